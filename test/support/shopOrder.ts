/** An order of the service of the docs, as a browser sends it. */
export const shopOrder = {
  id: "42",
  total: 5000,
  share: 4000,
  customer: { name: "Maria Silva", email: "maria@example.com" },
  seller: { pixKey: "seller@example.com", pixKeyType: "EMAIL" }
}
