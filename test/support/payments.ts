/**
 * A `Payments` with only the operations that a test defines. A call of another operation is a defect.
 */
import { Layer } from "effect"
import { Payments } from "effect-pix"

export const mockPayments = (operations: Partial<Payments["Service"]>): Layer.Layer<Payments> =>
  Layer.mock(Payments, operations)
