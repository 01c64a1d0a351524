/**
 * The sandbox with its server, as users have it: `Sandbox` of `src/sandbox`, and `layerServer`.
 */
declare module "./Sandbox.ts" {}

import * as Effect from "effect/Effect"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Gateway from "../sandbox/Gateway.ts"
import { Sandbox as InMemory } from "../sandbox/Sandbox.ts"
import type { SandboxStateError } from "../sandbox/SandboxError.ts"
import { SandboxOptions, withDefaults } from "../sandbox/SandboxOptions.ts"
import { localService } from "../sandbox/SandboxService.ts"

/** The sandbox, as a test steers it and reads it. */
export class Sandbox extends InMemory {
  /**
   * The sandbox on a loopback port, with its panel at `/` and its steering API under `/_sandbox`. Needs the package `@effect/platform-node`, and Node (or what runs its servers).
   * It fails where the port is taken, and with `SandboxStateError` where the `stateFile` cannot be read.
   *
   * A late or dripping answer waits by the clock that the layer is built with.
   */
  static readonly layerServer: Layer.Layer<Sandbox, HttpServerError.ServeError | SandboxStateError> = Layer.effect(
    InMemory,
    Effect.gen(function* () {
      const settings = withDefaults(yield* SandboxOptions, String(yield* Random.nextInt))
      // The server is loaded on demand, so that a sandbox in memory needs neither Node nor the optional package.
      const { serve } = yield* Effect.promise(() => import("./internal/server.ts"))
      const gateway = yield* Gateway.make(settings)
      return localService({ gateway, baseUrl: yield* serve(gateway) })
    })
  )
}
