/** The references at `/docs`: three megabytes of script, which few ask for, so this module is loaded when one does. */
import * as HttpApiScalar from "effect/http-api/HttpApiScalar"
import * as Layer from "effect/Layer"
import { GatewayApi } from "../internal/document.ts"
import { SandboxApi } from "../SandboxApi.ts"

const scalar = { withDefaultFonts: false, telemetry: false } as const

export const references = Layer.mergeAll(
  HttpApiScalar.layer(SandboxApi, { path: "/docs", scalar }),
  HttpApiScalar.layer(GatewayApi, { path: "/docs/gateway", scalar })
)
