/**
 * How a refusal is understood. The service does not show the body of an error (service interface, section 7), so a
 * cause is read from its words, in Portuguese or English, by the rules here: data in one place, replaceable when the
 * service turns out otherwise.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { RefusalRules } from "effect-pix"
 *
 * const rules = RefusalRules.make({
 *   rules: [{ cause: "InsufficientBalance", words: /\bE-1042\b/i }, ...RefusalRules.defaults.rules]
 * })
 * const program = Effect.void.pipe(Effect.provideService(RefusalRules, rules))
 * ```
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

/**
 * What a refusal can be about. `Other` stops the search: the words name a cause, and it is none of the others.
 */
export type RefusalCause =
  | "InsufficientBalance"
  | "NoPixKey"
  | "BelowMinimum"
  | "IdempotencyKeyReused"
  | "IdempotencyKeyInFlight"
  | "Other"

/** One rule: words that name a cause. */
export interface RefusalRule {
  readonly cause: RefusalCause
  /** Matched against the service's words in lower case, without accents, `SNAKE_CASE` and `camelCase` taken apart. */
  readonly words: RegExp
}

/** See the reference of the same name. */
export interface RefusalRules {
  /** Tried in order; the first that matches decides. */
  readonly rules: ReadonlyArray<RefusalRule>
  /**
   * The statuses of a refused withdrawal without `pixKey` that stand for the documented cause, no key on file
   * (sections 2.1 and 7), when the words name no other.
   */
  readonly noPixKeyStatuses: ReadonlyArray<number>
}

const defaults: RefusalRules = {
  rules: [
    {
      cause: "IdempotencyKeyInFlight",
      words:
        /idempot\w*.*(in progress|in flight|in-flight|processing|being processed|concurrent|andamento|processamento|processad[ao] agora)|(in progress|in flight|processing|andamento|processamento).*idempot|\bem (andamento|processamento)\b|\bin[ -](progress|flight)\b|\b(being|still|already|currently) process/
    },
    { cause: "IdempotencyKeyReused", words: /idempot/ },
    {
      // A request that is said to exist already may be our own, sent before: the careful reading is a conflict.
      cause: "IdempotencyKeyReused",
      words:
        /\bja (foi )?(existe|realizad|utilizad|usad|processad|solicitad|efetuad|executad|enviad|pag[ao]\b)|\balready (been )?(exist|used|processed|requested|executed|sent|submitted|paid|done)|\bduplica/
    },
    {
      cause: "InsufficientBalance",
      words:
        /(saldo|fundos|limite disponivel|balance|funds)\b.*\b(insuficient\w*|insufficient|indisponive\w*|nao (e )?suficiente|not (enough|sufficient)|too low|exceed\w*|exced\w*|menor|maior)|\b(insuficien\w*|insufficient|not enough|without|sem|falta) (de )?(saldo|fundos|balance|funds|available)|insufficient[_ -]?(balance|funds)|saldo[_ -]?insuficiente/
    },
    {
      cause: "NoPixKey",
      words:
        /\b(no|sem|nenhuma|missing|nao (ha|possui|tem|existe|encontr\w*)( nenhuma| uma)?) (registered |default |valid )?(chaves? (de )?pix|pix[_ -]?keys?|chave)\b|\b(chaves? (de )?pix|pix[_ -]?keys?|pixkey)\b.*\b(nao (foi |esta |ha )?(cadastrad|registrad|encontrad|configurad|informad|definid|localizad)\w*|not (been )?(found|registered|configured|set|provided|available|informed)|(is )?missing|inexistente|ausente|obrigatori\w*|(is )?required)|\b(register|cadastre|cadastrar|registre|configure)\b.*\b(chave|key)\b/
    },
    {
      cause: "BelowMinimum",
      words:
        /(minim\w+).*(valor|saque|retirada|transferencia|amount|value|withdraw\w*|r\$|centavos|\d)|(valor|saque|retirada|amount|value|withdraw\w*).*(minim\w+)|abaixo do minimo|below (the )?minimum|(menor|inferior) (que|a|do que) (o )?(r\$|minimo|\d)/
    },
    {
      cause: "Other",
      words:
        /bloquead|blocked|suspens|suspend|desativad|disabled|inativ|inactive|limite|\blimit|moeda|currency|metadata|metadado|descri(cao|ption)|manutencao|maintenance|horario|fraude|fraud|compliance|\bkyc\b|permiss|forbidden|json|content-type|\bamount\b|\bvalor\b|tipo d[ea] chave|key ?type|invalid [a-z]* ?company|empresa (nao|inexist)|company (not|does)/
    }
  ],
  noPixKeyStatuses: [400, 404]
}

/** Rules to put in the place of the defaults. */
type RefusalRulesOptions = { readonly [K in keyof RefusalRules]?: RefusalRules[K] | undefined }

const make = ({ noPixKeyStatuses, rules }: RefusalRulesOptions): RefusalRules => ({
  rules: rules ?? defaults.rules,
  noPixKeyStatuses: noPixKeyStatuses ?? defaults.noPixKeyStatuses
})

/** The rules in force: a `Context.Reference`, read when a call is refused. */
export const RefusalRules = Object.assign(
  Context.Reference<RefusalRules>("effect-pix/RefusalRules", { defaultValue: () => defaults }),
  {
    /** The rules as they come. */
    defaults,
    /** The default rules, with what is given in their place. */
    make,
    /** A layer of rules: the defaults, with what is given in their place. */
    layer: (options: RefusalRulesOptions): Layer.Layer<never> => Layer.succeed(RefusalRules, make(options))
  }
)
