/**
 * Ways in which a gateway may say why it refuses, in Portuguese and English, codes included: what must be understood as
 * a repetition or as something under way, what must not, and the causes that have an error of their own.
 */
const lines = (text: string): ReadonlyArray<string> => text.trim().split("\n")

/** Asked before, or being worked on. */
export const conflicts = lines(`
Saque em duplicidade
Operação em duplicidade
Solicitação já cadastrada
Saque já cadastrado para esta referência
Pedido já solicitado anteriormente
Transação já enviada
Chave de idempotência já utilizada
Chave já usada
Esta chave já foi usada em outra operação
Identificador já em uso
Identificador em uso
Já existe uma solicitação com este identificador
Já existe um saque pendente
Existe um saque em aberto para esta conta
Existe uma transferência pendente
Há uma solicitação em andamento
Há um pagamento em processamento
Há outra operação em curso
Requisição repetida
Solicitação repetida
Repetição de requisição
Pagamento repetido
Transação duplicada
Lançamento duplicado
Registro duplicado
Envio duplicado detectado
Duplicidade de pagamento
Possível duplicidade
Saque idêntico realizado há poucos minutos
Solicitação idêntica recebida recentemente
Transação semelhante recente encontrada
Mesma referência informada em outra requisição
O mesmo identificador foi enviado antes
Referência já utilizada
Referência utilizada em outro pedido
Número de controle já processado
Este saque já foi processado
Este pagamento já foi efetuado
Pagamento já realizado
Pagamento já efetivado
Transferência já liquidada
Saque já concluído
Operação já finalizada
Pedido já atendido
Requisição já recebida
Já recebemos esta solicitação
Já consta um pagamento com esse código
Consta outro saque com a mesma chave
Já há um saque para esta chave
Identificador deve ser único
O campo externalId deve ser único
Violação de unicidade
Reuso de chave de idempotência
Chave reutilizada com corpo diferente
Saque pendente
Transação pendente
Operação pendente de conclusão
Pendente
Pagamento pendente de confirmação
Aguardando conclusão da operação anterior
Aguardando processamento
Aguardando confirmação do banco
Aguarde a conclusão da solicitação anterior
Aguarde a finalização do saque em curso
Tente novamente em instantes, quando a operação anterior terminar
Tente novamente após a conclusão do saque anterior
Em andamento
Em processamento
Em curso
Saque em execução
Pedido em análise
Transação em fila
Na fila de processamento: transação em processamento
Requisição concorrente
Acesso concorrente ao recurso
Operações concorrentes não são permitidas
Requisições simultâneas para a mesma chave
Operação simultânea detectada
Recurso travado por outra transação
Registro travado
Outra requisição está usando esta chave
Outra solicitação em processamento
Existe outro pedido com este número
O pedido está sendo processado
A transação está sendo executada
Estamos processando sua solicitação
Ainda em processamento
Ainda não concluído
O saque anterior ainda não foi finalizado
Processando
Solicitação anterior não finalizada
Conflito de idempotência
Conflito: recurso já criado
Recurso já existe
Registro existente
Saque existente para a referência
Chave de idempotência já associada a outro pedido
Esta operação foi enviada anteriormente
Esta solicitação foi processada anteriormente
Foi processado previamente
Só é permitido enviar uma vez
Use outro identificador
Informe um identificador diferente
Parâmetros diferentes para a mesma chave
DUPLICATE_REQUEST
DUPLICATE_TRANSACTION
DUPLICATED
DuplicateKeyException
duplicate-payment
duplicateWithdrawal
DUP_ENTRY
ALREADY_EXISTS
ALREADY_PROCESSED
alreadyProcessed
already-submitted
TRANSACTION_ALREADY_EXISTS
RESOURCE_ALREADY_EXISTS
WITHDRAWAL_ALREADY_REQUESTED
PENDING_OPERATION
PENDING_WITHDRAWAL_EXISTS
OPERATION_IN_PROGRESS
operationInProgress
request-in-progress
REQUEST_IN_FLIGHT
CONCURRENT_REQUEST
CONCURRENT_MODIFICATION
ConcurrencyException
LOCKED
RESOURCE_LOCKED
KEY_IN_USE
keyInUse
IDEMPOTENCY_KEY_REUSED
idempotency_error
IDEMPOTENT_REPLAY
NOT_UNIQUE
UNIQUE_CONSTRAINT_VIOLATION
UniqueViolation
CONFLICT
STATE_CONFLICT
REPEATED_REQUEST
REPLAY_DETECTED
Duplicate request
Duplicated transaction
Duplicate entry 'abc' for key 'reference'
The reference has already been taken
The externalId has already been taken.
This id is taken
Reference must be unique
externalId must be unique
Key is not unique
Idempotency key in use
The key is in use by another request
Already in use
Request already received
This payment was already made
Payment already completed
Withdrawal already requested
This withdrawal has been processed
This request has been submitted before
This order was previously submitted
The key was previously used
This key has been used
The key was used with different parameters
Same idempotency key, different payload
Payload does not match the original request
Request body differs from the first request
A similar transaction was recently made
An identical request was received
Identical request
Existing request found
An existing withdrawal has this reference
Transaction exists
A withdrawal with this reference exists
There is another request with this key
Another request is being processed
Another withdrawal is open
Another operation is in progress
A previous request is still running
The previous withdrawal has not completed
The first request has not finished yet
Not yet completed
Still processing
Currently processing
Currently being processed
Being processed
Processing your request
Your request is being processed
Request is queued
The transfer is underway
Ongoing operation
Pending
Pending transaction
You have a pending withdrawal
There is a pending payout for this account
An outstanding request exists
Open withdrawal request found
Operation in progress
Payment in process
Withdrawal under review
Concurrent request detected
Concurrent updates are not allowed
Simultaneous requests with the same key
Parallel request rejected
Resource is locked
Could not acquire lock
Lock wait timeout exceeded
Deadlock found when trying to get lock
Wait for the previous request to complete
Please wait until the first request finishes
Try again once the previous operation is complete
Request can only be sent once
This token can be used only once
Replay detected
Second attempt with the same key
Key collision
Conflict
Conflict with the current state
Insufficient balance: a withdrawal is pending
Saldo insuficiente: há um saque em processamento
Nenhuma chave PIX livre, saque anterior em andamento
Valor mínimo não atingido; requisição duplicada
Conta em uso
Conta com saque pendente
Account has a pending withdrawal
Chave PIX em uso
Esse saque já tinha sido pedido
Pedido de saque repetido em menos de 5 minutos
Você já possui uma retirada aguardando liquidação
Operação rejeitada por duplicidade
Encontramos um pagamento igual a este
Não é permitido reenviar a mesma ordem
Ordem de pagamento replicada
Este código de referência pertence a outra transação
A chave de idempotência pertence a outra requisição
O txid informado não está disponível, pois já foi utilizado
Solicitação sob processamento
Transferência ainda não liquidada
O saque está sendo enviado ao banco
Saque em fase de processamento
Tarefa em execução
Requisição aguardando resposta do provedor
Sua transação anterior ainda está aberta
Espere a primeira transação terminar
Só pode haver um saque por vez
Apenas um saque por vez
Limite de um saque simultâneo
Existe uma retirada não concluída
Há um saque não finalizado
Há um saque aguardando aprovação
Registro já consta na base
Já registramos um pedido com esse número
Chave repetida
Nonce repetido
Id da requisição não é único
Identificador não disponível: em uso
Sessão bloqueada por outro processo
Recurso ocupado por outra operação
Conflito de concorrência
Conflito de versão
Erro de concorrência otimista
Transação em trânsito
Pagamento agendado anteriormente com a mesma chave
Pagamento já agendado
Uma transação com esses dados já foi registrada hoje
Valor e chave idênticos aos do último saque
Duplo envio detectado
Clique duplo detectado
Requisição idempotente já registrada
REQUEST_ALREADY_IN_PROGRESS
DUPLICATE_IDEMPOTENCY_KEY
idempotency_key_in_use
IDEMPOTENCY_CONFLICT
PAYOUT_IN_PROCESSING
WITHDRAWAL_PROCESSING
TRANSFER_PENDING
PaymentPending
PREVIOUS_REQUEST_PENDING
CONCURRENT_OPERATION
OptimisticLockException
ResourceInUseException
EntityAlreadyExists
already_taken
ER_DUP_ENTRY
SQLSTATE 23505
P2002
Unique constraint failed on the fields: (reference)
duplicate key value violates unique constraint
E11000 duplicate key error collection
The request was already executed
We have already received this request
This transfer was sent earlier today
You already made this withdrawal
Looks like you've sent this twice
Double submission
Double spend detected
Possible double payment
Key belongs to a different request
Key was reused with a different request body
The idempotency key matches an earlier request
This reference is not available
Reference already assigned
Reference number in use
Request ID has been consumed
A payment to this key for this amount was made recently
A transfer is in motion
Transfer is being settled
Payment is awaiting confirmation
Payout is waiting for the bank
The withdrawal is on its way
Withdrawal queued
A job for this request is running
An earlier attempt is unresolved
Only one withdrawal at a time
One withdrawal at a time
Finish the current withdrawal first
You have an unfinished withdrawal
Another process holds the lock
The row is locked by another transaction
could not serialize access due to concurrent update
Request superseded by a newer one
Same request submitted again
The operation has been started
Transaction has already been registered
Operation already under way
Operation still open
Este saque já foi solicitado anteriormente
Pedido repetido: o saque consta como enviado
Já existe uma solicitação de saque com este identificador
Transferência já efetuada
Operação já realizada para esta chave de idempotência
Requisição duplicada detectada
Saque em processamento, aguarde
Solicitação em andamento
Aguardando confirmação da solicitação anterior
Há um saque em curso para esta conta
Outra transação está sendo processada com a mesma chave
Lançamento já registrado
Pagamento já liquidado
Pagamento já enviado ao banco
O pagamento foi efetuado anteriormente
Idempotency-Key já utilizada
Chave de idempotência repetida
Chave de idempotência em uso
Chave idempotente reutilizada com corpo diferente
A mesma chave foi usada com outro payload
Corpo da requisição difere do original para a chave informada
Registro já existente
Violação de chave única
Duplicidade de lançamento
Saque idêntico solicitado há poucos minutos
Você já fez um saque igual a este
Esse saque já está na fila
Seu saque está na fila de processamento
A solicitação original ainda não terminou
Aguarde a conclusão do saque anterior
Existe um saque pendente
Já há um pedido em aberto
Saque pendente de aprovação
Operação concorrente detectada
Recurso bloqueado por outra operação
Recurso bloqueado por outro processo
Lock não adquirido
Saldo em atualização por outra transação, tente novamente
Transação já consta em nossa base
Identificador externo já utilizado
external_id já existe
Referência já usada
Txid já utilizado
Protocolo já gerado para este pedido
Esta operação já foi concluída
Solicitação já atendida
Ordem de pagamento já emitida
Já processamos este pedido
Recebemos este pedido antes
O saque foi criado em uma chamada anterior
ERR_DUPLICATE_KEY
SQLSTATE[23505]
duplicate entry 'wd_123' for key 'idempotency_key'
UNIQUE constraint failed: withdrawals.idempotency_key
DUPLICATED_TRANSACTION
ALREADY_PAID
IDEMPOTENCY_MISMATCH
IdempotencyError
REQUEST_IN_PROGRESS
OPERATION_PENDING
StaleObjectStateException
TRANSACTION_REPLAYED
SAQUE_DUPLICADO
saqueJaSolicitado
TRANSACAO_EM_PROCESSAMENTO
SOLICITACAO_REPETIDA
The withdrawal has already been requested
This request was already processed
A payout with this key already exists
Transfer already executed
Request was submitted before
Duplicate submission
Duplicate payout detected
Possible duplicate of withdrawal 8812
This key was used with a different body
Key reused with different parameters
Keys for idempotent requests can only be used with the same parameters they were first used with
Idempotency key has been used
Another request with the same key is being processed
The original request is still running
The operation is underway
Please wait for the previous withdrawal to finish
There is a pending withdrawal
You have a withdrawal awaiting processing
Previous request not finished
Another operation is in progress on this account
Account locked by another transaction
Could not obtain lock
Lock wait timeout exceeded; try restarting transaction
Write conflict
Conflicting request
Conflict with the current state of the resource
The resource was modified by another request
Nonce already used
Repeated request
Request ID must be unique
reference has been taken
The idempotency key is not unique
Same request received twice
We've seen this request before
This withdrawal has been made
Submitted twice
Requisição já tramitando
Saque já efetivado no sistema
Solicitação de resgate já protocolada
O pagamento correspondente já foi baixado
Movimentação já lançada no extrato
Há um processamento ativo para esta chave
Operação ainda não concluída
Aguarde o término da operação em andamento
Transação não finalizada: aguarde
Processo em background não terminou
Registro em uso por outro usuário
Concorrência detectada, tente novamente
Requisições simultâneas não são permitidas
Só é permitida uma solicitação por vez
Reenvio detectado
Você está tentando repetir uma operação
Tentativa de replay
Identificador repetido
Número do pedido já consta
Código da operação já foi utilizado
O id da requisição deve ser único
Idempotência violada
Conteúdo diferente para a mesma chave de idempotência
Esta chave está associada a outra requisição
Chave vinculada a outro saque
Chave já vinculada a uma transação
Hash da requisição não confere com o original
O saque de mesmo valor foi pedido há 2 minutos
Aguarde 5 minutos para solicitar outro saque de mesmo valor
Saque semelhante encontrado
Localizamos um saque idêntico
Encontramos uma solicitação igual
Esse pedido foi pago
Saque liquidado
Saque já consta como pago
Pagamento em compensação
Saque aguardando liquidação
Enviado ao SPI, aguardando retorno
Retorno do banco ainda não recebido
Sua solicitação está sendo analisada
A operação anterior não foi finalizada
Existe operação em aberto para a conta
Conta com operação em curso
Sessão de saque já aberta
Tentativa em duplicata
Duplicata
Lançamento em dobro
Pagamento em dobro detectado
Erro: chave duplicada viola a restrição de unicidade "uk_saque"
ORA-00001: unique constraint violated
duplicate key value violates unique constraint "withdrawals_key"
Violation of UNIQUE KEY constraint 'UQ_Idem'. Cannot insert duplicate key
could not obtain lock on row
Cannot acquire lock
Row was updated or deleted by another transaction
Version mismatch: entity was modified concurrently
ETag mismatch
Precondition failed
IDEMPOTENCY_KEY_REUSE
idempotency_request_in_progress
DUPLICATE_ORDER_ID
DuplicateTransactionException
RepeatedRequest
ORDER_ALREADY_EXISTS
TRANSACTION_IN_PROCESS
PENDING_TRANSACTION_EXISTS
PAYOUT_PENDING
IN_FLIGHT
LockedException
TooManyConcurrentRequests
ALREADY_SUBMITTED
ALREADY_DONE
REQUEST_REPLAYED
REFERENCE_NOT_UNIQUE
DUP_REF
operacaoDuplicada
pedidoEmAndamento
CHAVE_JA_UTILIZADA
REQUISICAO_JA_PROCESSADA
SAQUE_EM_ANDAMENTO
EM_PROCESSAMENTO
JA_EXISTE
The key is associated with another request
The key belongs to a previous request
That key has been consumed
Token has already been spent
Reference number previously used
Your earlier request is still pending
An identical payout was created 3 minutes ago
A similar withdrawal exists
Looks like a duplicate
We found an existing payout for this reference
The payout exists
Transfer was already settled
This order has been paid
Order is paid
You can only have one withdrawal at a time
One request at a time, please
Only one active withdrawal is allowed
Please wait until your last withdrawal is complete
Your last withdrawal is not complete yet
Processing your request, check back later
Your request is being reviewed
Transaction under review
Awaiting confirmation from bank
Awaiting settlement
The operation has not completed yet
The job is already running
Request accepted and being processed
Request already in queue
Simultaneous requests detected
Retry of a completed request
Retried request does not match the original
Request fingerprint mismatch
Parameters do not match the first request
Body hash does not match stored request
Resource already exists
Cannot process the same request again
Multiple identical requests
Protocolo já existente para esta remessa
A remessa já foi transmitida
Transmissão em andamento
Este lançamento consta como efetuado
Encontra-se em processamento
Encontra-se pendente
Resgate solicitado anteriormente
Há uma ordem idêntica na fila
Ordem igual a uma já executada
Duplicidade identificada no número de controle
Número de controle já utilizado
seuNumero já cadastrado
O nosso número já existe
Controle de concorrência: tente mais tarde
Operação bloqueada por concorrência
Já está sendo processado
Existem solicitações não concluídas
Há transação sem desfecho
Transação com resultado indefinido
Resultado do saque desconhecido, consulte o extrato
Consulte a situação do pedido anterior
Pagamento já consta no extrato
Pedido foi enviado ao banco
O saque já havia sido feito
Solicitação reapresentada
Requisição reprocessada
Tentativa duplicada ignorada
Mesma solicitação recebida há instantes
Você acabou de solicitar um saque igual
Aguarde o retorno da solicitação anterior
DUPLICIDADE
CHAVE_DUPLICADA
ID_JA_UTILIZADO
AGUARDANDO_PROCESSAMENTO
SOLICITACAO_PENDENTE
TRANSACAO_REPETIDA
SAQUE_JA_REALIZADO
ERRO_CONCORRENCIA
Duplicate external reference
The external reference is in use
A record with this id exists
This payout has already been initiated
Payout already in progress
Already being handled
Work in progress for this key
The request with this id is currently executing
Request has been queued for execution
Idempotent request already in progress
Another process is handling this withdrawal
The previous attempt is still outstanding
An earlier attempt succeeded
The first call succeeded
A prior payout for this invoice was found
Key was recently used
Request replay not permitted
Nonce reuse
Not unique
CLIENT_REFERENCE_ALREADY_USED
IDEMPOTENT_PARAMETER_MISMATCH
STILL_PROCESSING
CONCURRENCY_FAILURE
REQUEST_ALREADY_RECEIVED
TX_DUPLICATED
E_CONFLICT_STATE
`)

/** Refused, and nothing of it says that an earlier request may have been executed. */
export const ordinary = lines(`
Documento inválido
CPF inválido
CNPJ inválido
Documento do titular não confere
Dados inválidos
Requisição inválida
Bad Request
Unprocessable Entity
Forbidden
Não foi possível
Não foi possível processar a solicitação
Não foi possível concluir a operação
Operação não permitida
Operação não autorizada
Saque recusado
Saque negado pela instituição
Transação recusada pelo banco
Pagamento rejeitado
Conta bloqueada
Conta bloqueada para saques
Conta suspensa
Conta encerrada
Conta já encerrada
Conta inativa
Empresa inativa
Usuário bloqueado
Chave PIX inválida
Formato de chave inválido
A chave pix informada já não existe
Chave PIX não existe
A chave informada não existe
Esta chave não existe mais
Chave PIX já foi removida
Tipo de chave inválido
Limite diário de saques atingido
Limite diário já atingido
Limite excedido
Limite mensal excedido
Limite de saque já utilizado
O limite do dia já foi atingido
Cota diária esgotada
Valor acima do limite permitido
Valor máximo excedido
Valor inválido
O valor deve ser maior que zero
Moeda inválida
Moeda não suportada
Sistema em manutenção
Serviço em manutenção
Manutenção programada
Manutenção em andamento
Serviço indisponível
Serviço indisponível, tente novamente em instantes
Tente novamente mais tarde
Tente novamente em instantes
Tente novamente mais uma vez
Erro interno
Erro ao processar a solicitação
Erro de processamento
Falha no processamento
Falha na comunicação com o banco
Banco indisponível
Instituição não participante do PIX
Fora do horário permitido
Saques apenas em dias úteis
Horário de saque encerrado
O prazo já expirou
Horário já encerrado
Bloqueado por suspeita de fraude
Transação suspeita
Recusado pela análise de risco
Operação não permitida pelo compliance
Cadastro incompleto
Cadastro pendente
Cadastro em análise
Conta pendente de aprovação
Conta em análise
Documentação pendente
Pendente de documentação
Aguardando envio de documentos
Pendências cadastrais
Verificação de identidade pendente
KYC pendente
Empresa pendente de verificação
Permissão negada
Sem permissão para saque
Acesso negado
Credenciais inválidas
Token expirado
Token já expirado
Assinatura inválida
Certificado inválido
IP não autorizado
Descrição muito longa
Metadata inválido
O campo description é obrigatório
O campo amount deve ser um número inteiro
Campo obrigatório não informado
JSON malformado
Content-Type inválido
Método não permitido
Rota não encontrada
Empresa não encontrada
Transação não encontrada
Não existe transação com este identificador
Nenhuma transação encontrada
Não há transações
Conta de destino inexistente
Agência inválida
Titularidade divergente
A conta deve ser da mesma titularidade
A chave deve ser do mesmo titular
Destinatário bloqueado
Saques desabilitados
PIX desabilitado para esta empresa
Recurso não disponível no plano
Tarifa não configurada
Taxa de processamento não configurada
Escolha outra forma de pagamento
Tente outro método de pagamento
Informe outra chave
Use outra conta
Faça uma nova solicitação
Reenvie o documento
A senha deve conter no máximo 20 caracteres
Somente contas de pessoa jurídica
Faixa de valores não permitida
Parcelamento não disponível
Invalid document
Invalid CPF
Invalid tax id
Document mismatch
Validation failed
Validation error
Invalid request
Malformed request
Malformed JSON
Unexpected token
Missing field: amount
amount must be an integer
amount must be a positive number
Amount must be greater than zero
Amount exceeds the maximum
Amount too large
Value out of range
Invalid currency
Unsupported currency
Currency not supported
Account blocked
Account is blocked
Account suspended
Account closed
Account already closed
Account disabled
Account locked
User is locked
Your account is under review
Account pending approval
Pending KYC
KYC pending
KYC verification pending
Pending document verification
Awaiting documents
Verification required
Identity not verified
Daily limit exceeded
Limit exceeded
Daily limit already reached
Monthly limit has been reached
Limit already used
Quota exceeded
Rate limit exceeded
Too many requests
Key not found
Invalid key
Invalid PIX key
PIX key does not exist
The key no longer exists
Key doesn't exist
Company does not exist
Company not found
Not found
Resource not found
No transaction found
Unknown recipient
Receiver account is invalid
Maintenance
Scheduled maintenance
Scheduled maintenance in progress
Under maintenance
Service unavailable
Service unavailable, try again later
Try again later
Please try again
Temporarily unavailable
Internal error
Error processing request
Error while processing the payment
Failed to process
Could not process payment
The payment could not be processed
The withdrawal was not processed
Unable to process request
Processing error
Processing fee not configured
Processing fee exceeds the limit
Payment processing is unavailable
System busy
Server is busy
Declined
Declined by the bank
Rejected by risk analysis
Suspected fraud
Fraud suspected
Blocked by compliance
Not allowed
Operation not permitted
Insufficient permissions
Access denied
Unauthorized IP address
Invalid signature
Signature expired
Expired token
Certificate expired
Withdrawals are disabled for this company
Withdrawals are not available at this time
Outside of business hours
Bank is offline
Bank not participating
Invalid description
Description too long
Invalid metadata
Unsupported payment method
Try another payment method
Use another account
No action was taken
Not supported
Feature not enabled
Plan does not allow withdrawals
Ownership mismatch
The account must belong to the same owner
INVALID_DOCUMENT
ACCOUNT_BLOCKED
ACCOUNT_LOCKED
LIMIT_EXCEEDED
DAILY_LIMIT_REACHED
INVALID_CURRENCY
KEY_NOT_FOUND
NOT_FOUND
UNDER_MAINTENANCE
VALIDATION_ERROR
PROCESSING_ERROR
PERMISSION_DENIED
KYC_PENDING
INVALID_AMOUNT
Idempotency-Key header is required
Missing Idempotency-Key
Chave de idempotência não informada
Chave PIX não pertence ao titular
CPF não corresponde à chave
A conta do favorecido não foi localizada
A conta informada não aceita PIX
Instituição de destino fora do ar
Instituição do recebedor indisponível
Sua conta está com restrições
Conta com restrição judicial
Conta pendente de validação cadastral
É preciso concluir o cadastro
Complete seu cadastro
Envie os documentos pendentes
Documentos em análise pela equipe
Falta enviar o contrato social
Saques temporariamente suspensos
Saques liberados das 8h às 20h
Fora do expediente bancário
Valor superior ao limite noturno
Limite noturno excedido
Limite por transação é de R$ 5.000,00
Seu limite disponível é R$ 100,00
Você atingiu o número máximo de saques do dia
Máximo de 3 saques por dia
Aguarde 5 minutos e tente de novo
Servidor sobrecarregado
Ocorreu um erro inesperado
Erro inesperado ao realizar o saque
Parâmetro inválido: amount
Formato do campo pixKey inválido
pixKeyType deve ser CPF, CNPJ, EMAIL, PHONE ou EVP
A descrição excede 140 caracteres
currency deve ser BRL
Corpo da requisição vazio
Requisição sem corpo
Cabeçalho ausente: X-Client-Id
Chave de API inválida
Chave de API revogada
Sem autorização para este recurso
Operação bloqueada pelo antifraude
Transação negada por segurança
Recebedor não encontrado
Nenhum resultado encontrado
Identificador não encontrado
companyId inválido
Funcionalidade não contratada
Saque não permitido para contas de teste
Conta de pagamento não habilitada
Tarifa superior ao valor
Taxa de câmbio indisponível
Agendamento não permitido
Dados bancários incompletos
The recipient's bank rejected the transfer
Transfer declined by receiving institution
Recipient account not found
Recipient cannot receive PIX
The account holder's name does not match
Tax ID does not match the key owner
Please complete your profile
Please complete identity verification
Your documents are being reviewed
Business verification incomplete
Account restricted
Account not activated
Your account has been suspended
Merchant is not enabled for payouts
Payouts paused by administrator
Payout feature not available
Transaction amount exceeds per-transaction limit
Maximum payout amount is 50000
Night-time limit applies
You have reached the maximum number of payouts today
Wait 30 seconds before trying again
Service overloaded
Something went wrong
Unexpected error
An error occurred while processing your request
We were unable to complete the payout
The request could not be completed
Request failed
Request timed out
Invalid parameter
pixKeyType must be one of CPF, CNPJ, EMAIL, PHONE, EVP
amount is required
amount must be a number
description must be shorter than 140 characters
Field required
Body is empty
Missing header X-Client-Id
API key revoked
API key is not valid for this environment
Environment mismatch
Test accounts cannot withdraw
Suspicious activity
Risk rejected
Sanctions match
Judicial block
The key is registered to another person
Bank details incomplete
Fee exceeds amount
Exchange rate unavailable
Holiday: no transfers today
INVALID_PIX_KEY
ACCOUNT_RESTRICTED
RISK_REJECTED
PAYOUT_DISABLED
BANK_UNAVAILABLE
AMOUNT_LIMIT
O campo amount é obrigatório
Chave PIX não encontrada no DICT
Tipo da chave não corresponde à chave informada
CPF do favorecido inválido
Conta bloqueada por ordem judicial
Empresa não habilitada para saques
Saques desabilitados para esta conta
Saque não permitido fora do horário comercial
Horário limite excedido
Limite diário excedido
Valor acima do limite por transação
Valor máximo por saque é R$ 50.000,00
Corpo da requisição inválido
Campo desconhecido: foo
Formato de data inválido
Sem permissão para realizar saques
Versão da API não suportada
Parâmetro companyId ausente
Conta não verificada
Documentação da empresa incompleta
KYC reprovado
Favorecido não autorizado
A chave pertence a outro titular
Destino não permitido
Banco de destino indisponível no DICT
Cliente não encontrado
Recurso não encontrado
Erro de validação
Operação não suportada
Função não disponível no seu plano
Contrate o módulo de saques
Termos de uso não aceitos
Aceite os termos para continuar
Header X-Client-Id ausente
Header Content-Type inválido
O e-mail informado é inválido
Telefone inválido
O telefone deve ter 11 dígitos
Nome do pagador é obrigatório
Quantidade deve ser maior que zero
Título do item não pode ser vazio
Expiração deve ser entre 1 e 30 dias
Método de pagamento não habilitado
BOLETO não habilitado para esta empresa
Cartão recusado
Parcelamento indisponível
Fraude suspeita
Bloqueado pelo antifraude
Transação recusada pela política de risco
Ambiente de homologação não permite saques
Conta de teste
Chave PIX com formato inválido
Chave aleatória inválida
Chave do favorecido não existe
Idioma não suportado
A descrição contém caracteres inválidos
Amount must be positive
Currency must be BRL
PIX key type mismatch
Unknown field
Payload too large
Invalid request body
Missing required header
Method not allowed
Permission denied
Forbidden for this client
Company is not active
Company is suspended
Account is frozen
Withdrawals are disabled
Withdrawals are only allowed on business days
Amount above the maximum
Per-transaction limit reached
Beneficiary not allowed
Beneficiary document does not match
Invalid document number
Invalid phone number
Invalid email address
Customer name is required
Route not found
Unsupported media type
Terms not accepted
IP address not whitelisted
Signature mismatch
companyNotFound
A chave PIX informada não existe
Chave PIX não registrada no DICT
Chave do recebedor é inválida
Não foi possível validar o documento
CNPJ do recebedor não confere com a chave
Nome do recebedor diverge do cadastro
A conta de destino está encerrada
A conta de destino está bloqueada
O banco recebedor não participa do PIX
Instituição destino fora do ar
Instituição recebedora não aceita este tipo de pagamento
Valor excede o limite permitido
Valor acima do permitido para o período noturno
Limite mensal ultrapassado
Você atingiu o limite de saques do dia
Quantidade máxima de saques diários atingida
Máximo de 10 saques por dia
Saque fora do horário permitido
Serviço de saque desativado
Saque automático não habilitado
Sua empresa não tem permissão
Usuário sem perfil para a operação
Operação exclusiva para administradores
Token inválido
Api key revogada
Assinatura HMAC inválida
Cabeçalho obrigatório não enviado
O campo pixKeyType é obrigatório quando pixKey é informado
amount deve ser inteiro
amount deve ser um número
O valor deve ser positivo
O valor não pode ser negativo
O valor não pode conter centavos
description excede 140 caracteres
A descrição não pode conter emojis
metadata deve ser um objeto
metadata excede o tamanho permitido
Corpo vazio
Corpo inválido
JSON inválido na linha 1
Propriedade não esperada: pixkey
Requisição mal formatada
Parâmetros inválidos
Erro ao validar os campos
Um ou mais erros de validação ocorreram
Verifique os dados informados
Confira os dados e tente novamente
Falha na validação do recebedor
Recebedor na lista de restrição
Pagamento negado por suspeita de fraude
Recusado pelo motor de risco
Recusado pela instituição
Negado pelo PSP
Transação não autorizada
Não autorizado pelo banco central
Integração não configurada
Empresa inválida
Empresa bloqueada
Contrato inativo
Plano não contempla saques
Taxa não configurada
Cadastro reprovado
Cadastro da empresa incompleto
Complete seu cadastro para sacar
Envie os documentos da empresa
Documento ilegível
Selfie não confere
Atualize seus dados cadastrais
E-mail não confirmado
Confirme seu e-mail
Telefone não confirmado
Autenticação em dois fatores necessária
Código de verificação inválido
Senha incorreta
Horário bancário encerrado
Feriado nacional
Invalid amount
amount must be an integer number
amount must not be less than 1
pixKeyType must be one of the following values: CPF, CNPJ, EMAIL, PHONE, EVP
pixKey should not be empty
property foo should not exist
description must be shorter than or equal to 140 characters
currency must be a valid ISO4217 currency code
Unexpected token in JSON at position 3
Unexpected end of JSON input
Request body is invalid
One or more validation errors occurred.
The request field is required.
The JSON value could not be converted to System.Int32
The pixKey field is not valid
Unknown beneficiary
Receiver bank is not available
Receiver account is closed
Receiver account does not exist
Recipient not found
The recipient cannot receive this payment
Payment rejected by the receiving institution
Rejected by risk engine
Rejected by antifraud
Do not honor
Not authorized
Unauthorized operation
Scope missing: withdrawals.write
Merchant disabled
Merchant under KYC review
Account not verified
Please verify your account
Please confirm your email
Two-factor authentication required
Outside business hours
Bank holiday
Daily withdrawal limit reached
Monthly volume exceeded
Maximum amount is 50000
Amount exceeds the per-transaction limit
Amount exceeds maximum
Chave não pertence ao cliente
Banco destino inválido
Dígito verificador incorreto
Conta de pagamento inexistente
Conta do favorecido inativa
CPF do recebedor irregular na Receita Federal
CNPJ baixado na Receita Federal
Recebedor menor de idade
Limite por transação: R$ 1.000,00
Limite do Pix noturno: R$ 1.000,00
Tarifa não pode ser debitada
Valor com mais de duas casas decimais
O valor máximo é de R$ 20.000,00
Operação indisponível no momento
Operação não disponível para seu perfil
Produto não contratado
Saque exige aprovação do administrador
Saque só em dias úteis
Conta em processo de encerramento
Dados bancários inválidos
Dados do favorecido inválidos
Preencha todos os campos
Campo amount: formato inválido
O campo description deve ter no máximo 140 caracteres
pixKeyType inválido
A chave informada não corresponde ao tipo
Chave de acesso inválida
Chave de API expirada
Credencial revogada
Requer permissão de saque
Endpoint descontinuado
Use a versão 2 da API
Formato não suportado
Erro de sintaxe no JSON
Payload inválido
Faltam parâmetros
Suspeita de golpe
Operação rejeitada por compliance
Pessoa politicamente exposta
Beneficiary bank rejected the key
Invalid check digit
Invalid CNPJ
Value must be positive
amount: expected number, received string
Expected object, received array
Required
String must contain at most 140 character(s)
Invalid enum value. Expected 'CPF' | 'CNPJ'
Unrecognized key(s) in object: 'foo'
should NOT have additional properties
should have required property 'amount'
Withdrawals suspended by risk team
Manual approval required
Not eligible for instant payout
Region not supported
Nightly limit exceeded
`)

export const insufficientBalance = lines(`
Saldo insuficiente
Saldo insuficiente para realizar o saque.
O saldo disponível é menor que o valor solicitado
Saldo disponível inferior ao valor do saque
Não há saldo suficiente
Não possui saldo suficiente
Sem saldo
Sem saldo disponível
Sem fundos
Falta de saldo
Fundos insuficientes
Recursos insuficientes
Insuficiência de saldo
Insuficiência de fundos
O saldo não é suficiente
Seu saldo não cobre este saque
O valor excede o saldo disponível
O valor solicitado é maior que o saldo
Valor do saque superior ao saldo
Valor acima do saldo disponível
Quantia ultrapassa o saldo
Saldo zerado
Saldo negativo
Saldo indisponível
Saldo esgotado
Dinheiro insuficiente
Saldo pendente de liberação: saldo insuficiente
SALDO_INSUFICIENTE
saldoInsuficiente
Insufficient balance
insufficient funds
Insufficient available balance
Balance is not enough for this withdrawal
Balance is insufficient
Balance too low
Low balance
Not enough balance
Not enough funds
Not enough money in the account
No funds available
No available balance
Amount exceeds available balance
Amount exceeds the balance
Withdrawal amount is greater than the available balance
The balance does not cover the amount
The requested amount is higher than your balance
Exceeds balance
Lack of funds
Out of funds
Account overdrawn
Overdraft not allowed
INSUFFICIENT_BALANCE
INSUFFICIENT_FUNDS
insufficientFunds
insufficient-balance
NOT_ENOUGH_BALANCE
NSF
O saldo em conta não permite esta operação
Saldo insuficente
Você não tem saldo para este saque
Seu saldo é menor do que o valor pedido
Conta sem saldo para a operação
Saldo atual: R$ 5,00, valor pedido: R$ 10,00; saldo insuficiente
Não há fundos disponíveis
Saldo livre insuficiente
Limite de saldo excedido
Your balance is too low for this payout
You don't have enough funds
Available balance exceeded
Insufficient credit balance
Funds not available
Balance: insufficient
amount exceeds your available funds
INSUFFICIENT_ACCOUNT_BALANCE
BALANCE_TOO_LOW
not_enough_funds
NO_BALANCE
Saldo disponível insuficiente para o saque
Você não tem saldo suficiente
Conta sem saldo
Saldo menor que o valor solicitado
Valor solicitado maior que o saldo disponível
O valor do saque excede o saldo
Valor excede o saldo disponível
Valor superior ao saldo
Saldo não é suficiente
Saldo inferior ao valor do saque
Seu saldo não cobre o valor
Saldo abaixo do valor solicitado
Ultrapassa o saldo disponível
Balance is too low
The amount exceeds your balance
Amount is greater than the available balance
Balance is not sufficient
Balance insufficient
Available balance is less than the amount
Não há fundos para esta operação
Saldo em conta insuficiente
Seu saldo é insuficiente para concluir o saque
Seu saldo disponível é menor do que o valor do saque
Valor maior que o disponível
Valor indisponível para saque
Você não possui saldo para essa operação
Não existe saldo disponível
A conta não tem fundos
A conta não possui saldo
O saque ultrapassa o seu saldo
Quantia maior que o saldo em conta
Recursos insuficientes na conta
Saldo não disponível
Saldo não comporta a operação
Saldo indisponivel para retirada
Sem saldo disponível para saque
Insufficient account balance
Insufficient available funds
The account has insufficient funds to complete the withdrawal
You don't have enough balance
You do not have sufficient funds
Your balance is not enough
Your balance is lower than the requested amount
Requested amount is higher than balance
Amount higher than available balance
Withdrawal exceeds balance
No balance
Balance does not cover the amount
NO_FUNDS
INSUFFICIENT_AVAILABLE_BALANCE
BALANCE_INSUFFICIENT
SEM_SALDO
LOW_BALANCE
`)

export const noPixKey = lines(`
Nenhuma chave PIX cadastrada
Não há chave PIX cadastrada na conta bancária da empresa.
A conta bancária não possui chave pix
A empresa não tem chave pix
Chave PIX não encontrada
Chave PIX não cadastrada
Chave pix não configurada
Chave PIX não informada
Chave PIX não localizada
Chave pix ausente
Chave PIX obrigatória
A chave pix é obrigatória
Informe a chave PIX
Cadastre uma chave PIX
Configure uma chave PIX no painel
É necessário cadastrar uma chave pix
Sem chave PIX
Sem chave cadastrada
Conta sem chave PIX
Nenhuma chave encontrada
Nenhuma chave padrão
Não foi encontrada nenhuma chave PIX
Não existe chave pix para a conta
CHAVE_PIX_NAO_CADASTRADA
No PIX key
No PIX key found for the company's bank account
No registered PIX key
No default pix key configured
PIX key not registered
PIX key not found
PIX key is missing
Missing PIX key
Missing pixKey
pixKey is required
pixKey not provided
The pix key was not provided
The account has no pix key
Company does not have a pix key
Please register a PIX key
Provide a pixKey
PIX_KEY_NOT_FOUND
PIX_KEY_REQUIRED
NO_PIX_KEY
MISSING_PIX_KEY
Não encontramos uma chave PIX na sua conta
Sua empresa ainda não cadastrou uma chave Pix
Nenhuma chave Pix vinculada à conta bancária
Conta bancária sem chave Pix registrada
Favor informar uma chave pix
É preciso ter uma chave PIX cadastrada
Chave Pix do favorecido é necessária
pixKey não pode ser vazio
pixKey should not be empty
pixKey must be provided
No PIX key on file
No key on file for this company
There is no PIX key linked to the bank account
The company hasn't registered a PIX key
Bank account without pix key
pix_key_missing
PIXKEY_NOT_FOUND
DEFAULT_PIX_KEY_NOT_SET
Não há chave PIX cadastrada
Empresa sem chave PIX
A empresa não possui chave PIX
Cadastre uma chave PIX para sacar
Cadastre uma chave PIX antes de solicitar o saque
Chave PIX não informada e nenhuma registrada
Informe uma chave PIX
Nenhuma chave pix vinculada à conta
Não foi encontrada chave PIX para a empresa
Sua conta não tem chave PIX
Não existe chave PIX associada
Falta a chave PIX
Favor cadastrar chave pix no painel
Chave PIX da empresa não definida
No PIX key registered
Company has no PIX key
The company does not have a PIX key
PIX key is not configured
Please register a PIX key first
No PIX key found for company
There is no pix key for this account
You must add a PIX key
pix key not set
PIX_KEY_NOT_REGISTERED
pixKeyNotConfigured
Empresa não tem chave cadastrada
Você ainda não cadastrou uma chave PIX
Nenhuma chave Pix foi encontrada na conta bancária
Não localizamos chave PIX no seu cadastro
Defina uma chave PIX padrão
Chave PIX padrão inexistente
A conta bancária da empresa não possui chave pix associada
pixKey não informada e não há chave padrão
Nenhuma chave disponível
Configure a chave PIX no painel
Adicione uma chave PIX à sua conta
Chave PIX pendente de cadastro
Cadastro de chave PIX necessário
Conta sem chave cadastrada
Não existe chave pix para essa empresa
no default pix key
Pix key unavailable for this company
Could not find a PIX key
Company bank account has no key
No key on file
No keys registered
A PIX key must be provided
Provide a PIX key or register one
pixKey must not be null when company has no key
PIX key has not been registered
Register your PIX key
Pix key is null
Bank account has no associated PIX key
The company has not set a PIX key
there are no pix keys
key not found for company account
NO_PIX_KEY_FOUND
COMPANY_WITHOUT_PIX_KEY
semChavePix
CHAVE_PIX_INEXISTENTE
CHAVE_PIX_OBRIGATORIA
NENHUMA_CHAVE_PIX
PixKeyNotFoundException
`)

export const belowMinimum = lines(`
O valor mínimo para saque é de R$ 10,00
Valor abaixo do mínimo permitido
Valor mínimo não atingido
Valor menor que o mínimo
Valor inferior ao mínimo
Saque mínimo: 1000 centavos
Saque mínimo de R$ 10,00
O saque mínimo é R$ 10
Quantia mínima não atingida
Valor menor que R$ 10,00
O valor deve ser maior ou igual a 1000
O valor deve ser de pelo menos R$ 10,00
O valor deve ser no mínimo 1000
Valor muito baixo
Valor muito pequeno
Montante mínimo de 10 reais
Saques a partir de R$ 10,00
VALOR_MINIMO
Minimum withdrawal amount is 1000
The amount is below the minimum
Amount below minimum
Amount is less than the minimum
The minimum amount is 10.00
Minimum amount not reached
Minimum withdrawal: BRL 10
Amount must be at least 1000
amount must be greater than or equal to 1000
amount must not be less than 1000
Amount too small
Amount too low
Amount is too small
Withdrawal under the minimum
BELOW_MINIMUM
AMOUNT_BELOW_MINIMUM
MIN_AMOUNT: minimum is 1000
AMOUNT_TOO_SMALL
belowMinimumAmount
Saque abaixo de R$ 10,00 não é permitido
O menor valor para saque é R$ 10,00
Valor de saque inferior a dez reais
O mínimo é 1000 centavos
Não atingiu o valor mínimo
Valor precisa ser ao menos R$ 10,00
Mínimo de saque não respeitado
amount should not be less than 1000
amount must not be lower than 10.00
Amount is lower than allowed
Minimum payout is R$ 10.00
Below the minimum payout
Value is too small to be withdrawn
The smallest amount is 10 BRL
MINIMUM_AMOUNT_NOT_MET
AMOUNT_LESS_THAN_MINIMUM
amount_too_low
Valor mínimo para saque é R$ 10,00
Valor abaixo do mínimo
O saque mínimo é de R$ 10,00
Valor menor que o mínimo permitido
O valor deve ser maior ou igual a R$ 10,00
Saque abaixo do valor mínimo
Valor do saque inferior a R$ 10,00
Mínimo de R$ 10,00 por saque
Mínimo: 1000 centavos
Não são permitidos saques abaixo de R$ 10,00
Só é possível sacar a partir de R$ 10,00
Limite mínimo não atingido
Valor mínimo de saque: 10.00
Montante abaixo do mínimo
Minimum withdrawal is 1000
Minimum amount is R$ 10.00
The minimum withdrawal amount is 1000 centavos
Withdrawal amount under the minimum
Below the minimum amount
Amount does not meet the minimum
Minimum not reached
Withdrawals start at R$ 10.00
MIN_AMOUNT
valorMinimoNaoAtingido
VALOR_ABAIXO_DO_MINIMO
O valor solicitado é inferior ao mínimo permitido
Valor precisa ser de pelo menos R$ 10,00
Quantia abaixo do limite mínimo
O mínimo para retirada é de dez reais
Saque mínimo não atingido
Mínimo para saque: R$ 10,00
Valor de saque menor que R$ 10,00
O valor é menor que 1000 centavos
O valor informado é muito pequeno
Valor pequeno demais
Valor baixo demais
Não é possível sacar menos de R$ 10,00
Informe um valor de no mínimo R$ 10,00
Informe um valor maior que R$ 10,00
Informe um valor a partir de 1000
amount deve ser maior ou igual a 1000
amount deve ser no mínimo 1000
Valor do saque abaixo do permitido
Valor mínimo: 1000
Retirada mínima de R$ 10
Piso de saque R$ 10,00
Minimum payout amount not met
Minimum payout is R$10
The amount is below the allowed minimum
The amount is too small
Amount is below R$ 10.00
You must withdraw at least R$ 10.00
At least 1000 centavos required
Amount cannot be lower than 1000
Amount is lower than minimum
Smallest withdrawal is R$ 10.00
Increase the amount to at least R$ 10
amount: minimum value is 1000
Value must be greater than or equal to 1000
MINIMUM_AMOUNT
VALUE_TOO_LOW
SAQUE_MINIMO
`)
