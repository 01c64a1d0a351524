/** The words of the Portuguese dashboard, by the English ones of `panels.ts` and `main.ts`. */
export const portuguese: Readonly<Record<string, string>> = {
  Now: "Agora",
  "Alerts that fire": "Alertas que disparam",
  "Those of alerts.yml, each with its runbook. Grafana reads them from the Prometheus that evaluates them.":
    "Os de alerts.yml, cada um com o seu runbook. O Grafana os lê do Prometheus que os avalia.",
  "Money that ended wrongly, in 24 hours": "Dinheiro que terminou errado, em 24 horas",
  "Payouts that were refused, that failed, or that came back.": "Pagamentos recusados, que falharam ou que voltaram.",
  "Money of calls that failed, in 24 hours": "Dinheiro de chamadas que falharam, em 24 horas",
  "Charges and payouts that were asked for and not executed, or whose outcome is not known. A payout of the queue is asked again.":
    "Cobranças e pagamentos pedidos e não executados, ou cujo resultado não é conhecido. A fila pede de novo um pagamento.",
  "Time of an attempt": "Tempo de uma tentativa",
  "The median of all requests. Over 10 seconds for 5 minutes it pages.":
    "A mediana de todos os pedidos. Acima de 10 segundos por 5 minutos, chama alguém.",
  "Money of failed writes, by cause": "Dinheiro das escritas que falharam, por causa",
  "Charges and payouts whose call did not succeed, in each step of the chart.":
    "Cobranças e pagamentos cuja chamada não deu certo, em cada passo do gráfico.",
  "Clock of the program": "Relógio do programa",
  "How far the clocks of the processes are ahead of the gateway's and of the database's: the most and the least.":
    "Quanto os relógios dos processos estão adiantados em relação aos do gateway e do banco de dados: o maior e o menor valor.",
  "no webhook told of it": "nenhum webhook avisou",
  "max {{source}}": "máx. {{source}}",
  "min {{source}}": "mín. {{source}}",
  "Money that payers got back, in 24 hours": "Dinheiro que voltou aos pagadores, em 24 horas",
  "Payments that were refunded, by you or by the payer's bank.":
    "Pagamentos devolvidos, por você ou pelo banco do pagador.",
  refunded: "devolvido",
  "Since the last delivery": "Desde a última entrega",
  "How long ago the last delivery of a webhook was taken, the oldest.":
    "Há quanto tempo a última entrega de um webhook foi aceita, a mais antiga.",
  "Payments, by how they ended": "Pagamentos recebidos, por como terminaram",
  "Paid, refunded or closed, as a lookup said, in each step of the chart.":
    "Pagos, devolvidos ou encerrados, como uma consulta disse, em cada passo do gráfico.",
  "Money of payments, by how they ended": "Dinheiro recebido, por como terminou",
  "The sum of these payments.": "A soma desses pagamentos.",
  "Money that your code did not take, in 24 hours": "Dinheiro que o seu código não aceitou, em 24 horas",
  "Transactions whose handler failed at its first call. It is called again, for a day.":
    "Transações cujo código falhou na primeira chamada. Ele é chamado de novo, por um dia.",
  "Money in doubt": "Dinheiro em dúvida",
  "The sum of the payouts of which nobody knows whether they were paid. The queue asks again with the same key.":
    "A soma dos pagamentos que ninguém sabe se foram feitos. A fila pergunta de novo com a mesma chave.",
  "in doubt": "em dúvida",
  "Money that waits for a person": "Dinheiro que espera por uma pessoa",
  "The sum of the parked payouts. Nothing sends them before a person decides.":
    "A soma dos pagamentos parados. Nada os envia antes que uma pessoa decida.",
  parked: "parado",
  "Money to check": "Dinheiro a conferir",
  "The sum of the payouts whose end a person has to check: something is claimed or contradicted, or no lookup said how they ended.":
    "A soma dos pagamentos cujo fim uma pessoa tem de conferir: há uma alegação ou contradição, ou nenhuma consulta disse como terminaram.",
  "to check": "a conferir",
  "Money that is not sent yet": "Dinheiro ainda não enviado",
  "The sum of the payouts that are accepted and not sent. It was not paid, and is not lost.":
    "A soma dos pagamentos aceitos e não enviados. Não foi pago, e não se perdeu.",
  accepted: "aceito",
  "Paused accounts, now": "Contas pausadas, agora",
  "Accounts whose workers somebody stopped.": "Contas cujos trabalhadores alguém parou.",
  paused: "pausadas",
  "Charges that fail, in an hour": "Cobranças que falham, em uma hora",
  "The share of the charges that could not be made, whatever the cause.":
    "A parte das cobranças que não puderam ser feitas, seja qual for a causa.",
  fail: "falham",
  "Charges, and payments handed out, in an hour": "Cobranças, e pagamentos entregues, em uma hora",
  "Charges that were made, and payments that onPaid took. Where the second is 0, webhooks do not arrive or are not confirmed.":
    "Cobranças feitas, e pagamentos que onPaid aceitou. Onde o segundo é 0, webhooks não chegam ou não são confirmados.",
  charges: "cobranças",
  "handed out": "entregues",
  "Oldest delivery that waits": "Entrega mais antiga que espera",
  "Since when the oldest delivery waits for a worker, for an answer of the gateway or for your code.":
    "Desde quando a entrega mais antiga espera por um trabalhador, por uma resposta do gateway ou pelo seu código.",
  oldest: "mais antiga",
  "Dead letters": "Cartas mortas",
  "What your code refused until its retries ended: deliveries of webhooks, and states of payouts.":
    "O que o seu código recusou até o fim das tentativas: entregas de webhooks, e estados de pagamentos.",
  deliveries: "entregas",
  states: "estados",
  "Age of the figures": "Idade dos números",
  "How long ago the queue of payouts and the webhooks were measured, the oldest. While the database is away, the other panels have their last values.":
    "Há quanto tempo a fila de pagamentos e os webhooks foram medidos, o mais antigo. Sem o banco de dados, os outros painéis ficam com os últimos valores.",
  payouts: "pagamentos",
  Payouts: "Pagamentos",
  "Money that waits, by state": "Dinheiro que espera, por estado",
  "accepted: no request left. unknown: in doubt. parked: a person decides. posted: its end is not known.":
    "accepted: nenhum pedido saiu. unknown: em dúvida. parked: uma pessoa decide. posted: o fim não é conhecido.",
  "Money that cannot be sent, by cause": "Dinheiro que não pode ser enviado, por causa",
  "No request of the queue moved it. A pause (Paused), a time to be sent at (NotBefore) and the cap of a day (DailyCap) are meant.":
    "Nenhum pedido da fila o moveu. Uma pausa (Paused), uma hora marcada (NotBefore) e o teto de um dia (DailyCap) são intencionais.",
  "Payouts that wait, by state": "Pagamentos que esperam, por estado",
  "How many they are.": "Quantos são.",
  "Payouts that cannot be sent, by cause": "Pagamentos que não podem ser enviados, por causa",
  "Oldest payout that waits, by state": "Pagamento mais antigo que espera, por estado",
  "In doubt it pages after 15 minutes, accepted after 10.":
    "Em dúvida (unknown), chama alguém após 15 minutos; aceito (accepted), após 10.",
  "Outcomes of payouts": "Resultados dos pagamentos",
  "How many payouts came into a state, in each step of the chart. posted: the service recorded it.":
    "Quantos pagamentos chegaram a um estado, em cada passo do gráfico. posted: o serviço o registrou.",
  "Refused and parked payouts, by cause": "Pagamentos recusados e parados, por causa",
  "The last failure of the payouts that were refused or parked. A refusal is final.":
    "A última falha dos pagamentos recusados ou parados. Uma recusa é final.",
  "Ends of payouts, by who said so": "Fins dos pagamentos, por quem disse",
  "Payouts that ended, by their state and who said so: an answer, a lookup or a person.":
    "Pagamentos que terminaram, pelo estado e por quem disse: uma resposta, uma consulta ou uma pessoa.",
  "Money of the ends, by who said so": "Dinheiro dos fins, por quem disse",
  "The sum of these payouts.": "A soma desses pagamentos.",
  "Payouts to check, by cause": "Pagamentos a conferir, por causa",
  "Payouts whose end a person has to check: a webhook claims that they failed or came back, the gateway contradicts itself, or lookups did not say for as long as confirm looks.":
    "Pagamentos cujo fim uma pessoa tem de conferir: um webhook alega que falharam ou voltaram, o gateway se contradiz, ou as consultas nada disseram enquanto confirm as faz.",
  "Money to check, by cause": "Dinheiro a conferir, por causa",
  "Accounts whose payouts are not looked up": "Contas cujos pagamentos não são consultados",
  "1: confirming stopped, since the gateway knows none of their numbers.":
    "1: a confirmação parou, pois o gateway não conhece nenhum dos seus números.",
  "States that wait for onState": "Estados que esperam por onState",
  "States that wait, also behind a dead letter, and dead letters.":
    "Estados que esperam, também atrás de uma carta morta, e cartas mortas.",
  "dead letters of {{account}}": "cartas mortas de {{account}}",
  "Oldest state that waits for onState": "Estado mais antigo que espera por onState",
  "It is a ticket after half an hour.": "Vira um chamado após meia hora.",
  "Calls of onState, by result": "Chamadas de onState, por resultado",
  "Dead: it is not repeated. Failure: it is.": "Dead: não é repetida. Failure: é.",
  "Paused accounts": "Contas pausadas",
  "1 while somebody stops the workers of an account.": "1 enquanto alguém para os trabalhadores de uma conta.",
  "Accounts without a worker": "Contas sem trabalhador",
  "1 where no worker ever served an account: is its name right?":
    "1 onde nenhum trabalhador jamais atendeu uma conta: o nome está certo?",
  "Calls and attempts": "Chamadas e tentativas",
  "Outcomes of calls": "Resultados das chamadas",
  "How many calls ended, by whether money may have moved. Unknown: it may.":
    "Quantas chamadas terminaram, e se o dinheiro pode ter se movido. Unknown: pode.",
  "Failed calls, by cause": "Chamadas que falharam, por causa",
  "The error of a call, and the status or reason of its last attempt.":
    "O erro de uma chamada, e o status ou motivo da última tentativa.",
  "Attempts, by answer": "Tentativas, por resposta",
  "Requests a second. An attempt without an error_type was answered with 2xx; the others are named by their status, or by why there was none.":
    "Pedidos por segundo. Uma tentativa sem error_type teve resposta 2xx; as outras têm o status, ou por que não houve nenhum.",
  "Share of attempts that fail": "Parte das tentativas que falham",
  "Answers 5xx and attempts without an answer, of all.": "Respostas 5xx e tentativas sem resposta, do total.",
  "Time of a call": "Tempo de uma chamada",
  "With its attempts and waits: the median, and what 99 of 100 calls take at most.":
    "Com as tentativas e esperas: a mediana, e o máximo de 99 em 100 chamadas.",
  "Refused retries": "Novas tentativas negadas",
  "Retries that the budget refused, since too many attempts failed.":
    "Novas tentativas que o orçamento negou, pois muitas falharam.",
  "Loads of credentials": "Cargas de credenciais",
  "New, Same or Failed.": "New (novas), Same (as mesmas) ou Failed (falhou).",
  "Answers that do not fit the contract": "Respostas fora do contrato",
  "The field that was left out.": "O campo que ficou de fora.",
  Webhooks: "Webhooks",
  "Deliveries, by answer": "Entregas, por resposta",
  "Deliveries a second. Busy and NotFinished are normal where a webhook works inside requests.":
    "Entregas por segundo. Busy e NotFinished são normais onde um webhook trabalha dentro dos pedidos.",
  "Calls of handlers, by result": "Chamadas do seu código, por resultado",
  "Dead: it is not repeated. Failure: it is. A word for paid that you have not listed is not handed to onPaid.":
    "Dead: não é repetida. Failure: é. Uma palavra para pago que você não listou não chega a onPaid.",
  "onPaid was not called for {{payments_status}}": "onPaid não foi chamado para {{payments_status}}",
  "Deliveries that wait, by reason": "Entregas que esperam, por motivo",
  "due: for a worker. first: for the first lookup. early: for the service's books. outage: for an answer of the service. failed: for your code.":
    "due: por um trabalhador. first: pela primeira consulta. early: pelos livros do serviço. outage: por uma resposta do serviço. failed: pelo seu código.",
  "Oldest delivery that waits, by reason": "Entrega mais antiga que espera, por motivo",
  "The same reasons.": "Os mesmos motivos.",
  "Dead letters, by webhook": "Cartas mortas, por webhook",
  "Deliveries that wait for a person.": "Entregas que esperam por uma pessoa.",
  "Database and processes": "Banco de dados e processos",
  "Starts of processes, in half an hour": "Inícios de processos, em meia hora",
  "How often each process started. A deployment starts each once more.":
    "Quantas vezes cada processo começou. Uma implantação começa cada um mais uma vez.",
  "Failures of the database": "Falhas do banco de dados",
  "Operations of the queue and of webhooks that failed, by cause.":
    "Operações da fila e dos webhooks que falharam, por causa.",
  "{{operation}} p50": "{{operation}} p50",
  "{{operation}} p99": "{{operation}} p99",
  webhooks: "webhooks",
  "effect-pix": "effect-pix (português)",
  "Data source": "Fonte de dados",
  Program: "Programa",
  Account: "Conta",
  "What ended wrongly, what waits and why, what does not arrive. Where two programs measure one queue, choose one job: a sum over jobs would count it twice. The variable runbook is where your team reads docs/operations: set it in the settings.":
    "O que terminou errado, o que espera e por quê, o que não chega. Onde dois programas medem uma fila, escolha um só: a soma dos dois contaria em dobro. A variável runbook é onde a sua equipe lê docs/operations: mude-a nas configurações."
}
