# Steers the sandbox from another language: a charge is made and paid, and what arrived is read.
import json, urllib.request

BASE = "http://127.0.0.1:4010"
KEYS = {"X-Client-Id": "sandbox-client", "X-API-Key": "sandbox-key", "Accept": "application/json"}

def ask(method, path, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **headers}
    with urllib.request.urlopen(urllib.request.Request(BASE + path, data, headers, method=method)) as answer:
        return json.load(answer)

def steer(name, **given):
    return ask("POST", f"/_sandbox/{name}", given)

charge = ask("POST", "/api/v1/transactions/create", {
    "amount": 2500, "currency": "BRL", "paymentMethod": "PIX",
    "customer": {"name": "Maria Silva", "email": "maria@example.com"},
}, **KEYS)["data"]
steer("markPaid", transactionId=charge["id"])
detail = ask("GET", f"/api/Transaction/transactionByTransactionId/{charge['id']}", **KEYS)
assert detail["enStatusTransaction"] == "Paid"

# The first request of this charge: what arrived, and what was answered.
request = ask("GET", f"/_sandbox/requests?search={charge['id']}")["items"][-1]
assert (request["operation"], request["status"]) == ("createTransaction", 200)
