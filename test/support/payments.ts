/**
 * `Payments` of which a test writes the operations that it needs: calling another one is a defect.
 */
import { Layer } from "effect"
import { Payments } from "effect-pix"

export const mockPayments = (operations: Partial<Payments["Service"]>): Layer.Layer<Payments> =>
  Layer.mock(Payments, operations)
