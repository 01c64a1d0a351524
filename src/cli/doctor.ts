/** `effect-pix doctor`: whether a gateway is as this library assumes. Reads only. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { json } from "./internal/flags.ts"
import { lazily } from "./internal/lazily.ts"

export const doctor = Command.make(
  "doctor",
  {
    transaction: Flag.String("transaction").pipe(
      Flag.withMetavar("id"),
      Flag.withDescription("Look this one up too: the rows of a list carry no id that a lookup takes"),
      Flag.optional
    ),
    report: Flag.String("report").pipe(
      Flag.withMetavar("file"),
      Flag.withDescription("Write the findings there, without secrets and personal data, to be attached to an issue"),
      Flag.optional
    ),
    json
  },
  lazily(() => import("./internal/doctor.ts"))
).pipe(
  Command.withDescription(
    "Check the settings, the service, the credentials, and every assumption that a read can check.\n\n" +
      "  It changes nothing. It sends one request with a wrong key, and one for an id that nobody has. Exit code 7 if an\n" +
      "  assumption is wrong."
  ),
  Command.withShortDescription("Check whether a gateway is as this library assumes"),
  Command.withExamples([
    { command: "effect-pix doctor --transaction <id> --report doctor.md", description: "all of it, into a report" }
  ])
)
