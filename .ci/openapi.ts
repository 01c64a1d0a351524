/**
 * Prints the contract as an OpenAPI 3.1 document.
 */
import { OpenApi } from "effect/http-api"
import { PaymentsApi } from "../src/contract/PaymentsApi.ts"

console.log(JSON.stringify(OpenApi.fromApi(PaymentsApi), null, 2))
