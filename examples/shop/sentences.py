"""What people read, in three languages: while a tool runs, as its answer, and before they say yes.

The models read none of it. `placet.words.template` has the language of the places. Answers quote
nothing that a tool keeps out of records, for an answer is recorded as well.
"""

from typing import Final

GET_ORDER_STATUS: Final = {
    "en": "looking up order {order_id}…",
    "pt-BR": "consultando o pedido {order_id}…",
    "ro": "caut comanda {order_id}…",
}
LIST_ORDERS: Final = {
    "en": "looking through {?customer_id}the orders of {customer_id}{/customer_id}{!customer_id}orders{/customer_id}…",
    "pt-BR": "listando {?customer_id}os pedidos de {customer_id}{/customer_id}{!customer_id}pedidos{/customer_id}…",
    "ro": "caut {?customer_id}comenzile lui {customer_id}{/customer_id}{!customer_id}comenzi{/customer_id}…",
}
SEARCH_ORDERS_BY_EMAIL: Final = {
    "en": "looking for orders by e-mail address…",
    "pt-BR": "procurando pedidos pelo e-mail…",
    "ro": "caut comenzi după adresa de e-mail…",
}
SEARCH_CUSTOMERS: Final = {
    "en": "searching customers…",
    "pt-BR": "procurando clientes…",
    "ro": "caut clienți…",
}
CHECK_STOCK: Final = {
    "en": "checking the stock of {product}…",
    "pt-BR": "verificando o estoque de {product}…",
    "ro": "verific stocul pentru {product}…",
}
CANCEL_ORDER: Final = {
    "en": "cancelling order {order_id}…",
    "pt-BR": "cancelando o pedido {order_id}…",
    "ro": "anulez comanda {order_id}…",
}
REFUND_ORDER: Final = {
    "en": "refunding {amount:money} of order {order_id}…",
    "pt-BR": "reembolsando {amount:money} do pedido {order_id}…",
    "ro": "rambursez {amount:money} din comanda {order_id}…",
}
CHANGE_ADDRESS: Final = {
    "en": "changing the address of order {order_id}…",
    "pt-BR": "mudando o endereço do pedido {order_id}…",
    "ro": "schimb adresa comenzii {order_id}…",
}
SEND_EMAIL: Final = {
    "en": "writing to customer {customer_id}…",
    "pt-BR": "escrevendo para o cliente {customer_id}…",
    "ro": "scriu clientului {customer_id}…",
}
GET_WEATHER: Final = {
    "en": "asking for the weather in {city}…",
    "pt-BR": "consultando o tempo em {city}…",
    "ro": "întreb cum e vremea în {city}…",
}

# ── answers ───────────────────────────────────────────────────────────────────────────

ORDER_STATUS_ANSWER: Final = {
    "en": (
        "{?yours}Your order{/yours}{!yours}Order{/yours} {order_id} {?cancelled}was cancelled{/cancelled}"
        "{!cancelled}{!shipped}has not been shipped yet{?unpaid}: it is not paid{/unpaid}{/shipped}"
        "{?shipped}was shipped on {shipped.on:day} with {shipped.carrier}"
        "{?delivered_on} and delivered on {delivered_on:day}{/delivered_on}{/shipped}{/cancelled}."
        "{!cancelled}{?shipped} Tracking: {shipped.tracking}.{/shipped}{/cancelled}"
        "{?refunded} {refunded:money} was paid back.{/refunded}"
    ),
    "pt-BR": (
        "{?yours}Seu{/yours}{!yours}O{/yours} pedido {order_id} {?cancelled}foi cancelado{/cancelled}"
        "{!cancelled}{!shipped}ainda não foi enviado{?unpaid}: falta o pagamento{/unpaid}{/shipped}"
        "{?shipped}foi enviado em {shipped.on:day} pela transportadora {shipped.carrier}"
        "{?delivered_on} e entregue em {delivered_on:day}{/delivered_on}{/shipped}{/cancelled}."
        "{!cancelled}{?shipped} Rastreio: {shipped.tracking}.{/shipped}{/cancelled}"
        "{?refunded} Valor devolvido: {refunded:money}.{/refunded}"
    ),
    "ro": (
        "Comanda {?yours}dumneavoastră {/yours}{order_id} {?cancelled}a fost anulată{/cancelled}"
        "{!cancelled}{!shipped}nu a fost încă expediată{?unpaid}: nu este plătită{/unpaid}{/shipped}"
        "{?shipped}a fost expediată pe {shipped.on:day} prin {shipped.carrier}"
        "{?delivered_on} și livrată pe {delivered_on:day}{/delivered_on}{/shipped}{/cancelled}."
        "{!cancelled}{?shipped} AWB: {shipped.tracking}.{/shipped}{/cancelled}"
        "{?refunded} Suma înapoiată: {refunded:money}.{/refunded}"
    ),
}
ORDERS_ANSWER: Final = {
    "en": (
        "{!orders}There are no such orders.{/orders}"
        "{?orders}Orders found: {orders.count}{?more} or more{/more}. {/orders}"
        "{#orders:; }{order_id} of {placed_on:day}, {total:money}{?cancelled}, cancelled{/cancelled}"
        "{?unpaid}, not paid{/unpaid}{?shipped}, shipped on {shipped.on:day}{/shipped}"
        "{?delivered_on}, delivered on {delivered_on:day}{/delivered_on}{/orders}"
    ),
    "pt-BR": (
        "{!orders}Não há pedidos assim.{/orders}"
        "{?orders}Pedidos encontrados: {orders.count}{?more} ou mais{/more}. {/orders}"
        "{#orders:; }{order_id} de {placed_on:day}, {total:money}{?cancelled}, cancelado{/cancelled}"
        "{?unpaid}, não pago{/unpaid}{?shipped}, enviado em {shipped.on:day}{/shipped}"
        "{?delivered_on}, entregue em {delivered_on:day}{/delivered_on}{/orders}"
    ),
    "ro": (
        "{!orders}Nu există astfel de comenzi.{/orders}"
        "{?orders}Comenzi găsite: {orders.count}{?more} sau mai multe{/more}. {/orders}"
        "{#orders:; }{order_id} din {placed_on:day}, {total:money}{?cancelled}, anulată{/cancelled}"
        "{?unpaid}, neplătită{/unpaid}{?shipped}, expediată pe {shipped.on:day}{/shipped}"
        "{?delivered_on}, livrată pe {delivered_on:day}{/delivered_on}{/orders}"
    ),
}
CUSTOMERS_ANSWER: Final = {
    "en": (
        "{!customers}No such customer.{/customers}{?customers}Customers found: {customers.count}"
        "{?more} or more{/more}. {/customers}"
        "{#customers:; }{id}, {name}, {county}, plan {plan}{?deleted}, closed{/deleted}{/customers}"
    ),
    "pt-BR": (
        "{!customers}Nenhum cliente assim.{/customers}{?customers}Clientes encontrados: {customers.count}"
        "{?more} ou mais{/more}. {/customers}{#customers:; }{id}, {name}, {county}, plano {plan}"
        "{?deleted}, conta encerrada{/deleted}{/customers}"
    ),
    "ro": (
        "{!customers}Niciun astfel de client.{/customers}{?customers}Clienți găsiți: {customers.count}"
        "{?more} sau mai mulți{/more}. {/customers}{#customers:; }{id}, {name}, {county}, plan {plan}"
        "{?deleted}, cont închis{/deleted}{/customers}"
    ),
}
STOCK_ANSWER: Final = {
    "en": (
        "{!products}We do not sell anything of that name.{/products}"
        "{#products:; }{name}: {available} in stock, {price:money} each{/products}"
    ),
    "pt-BR": (
        "{!products}Não vendemos nada com esse nome.{/products}"
        "{#products:; }{name}: {available} em estoque, {price:money} a unidade{/products}"
    ),
    "ro": (
        "{!products}Nu vindem nimic cu acest nume.{/products}"
        "{#products:; }{name}: {available} pe stoc, {price:money} bucata{/products}"
    ),
}
CANCELLED_ANSWER: Final = {
    "en": (
        "Order {order_id} is cancelled.{?refunded} {refunded:money} is paid back.{/refunded}"
        "{?recalled} The parcel is called back.{/recalled}"
    ),
    "pt-BR": (
        "O pedido {order_id} foi cancelado.{?refunded} Valor devolvido: {refunded:money}.{/refunded}"
        "{?recalled} A transportadora vai trazer o pacote de volta.{/recalled}"
    ),
    "ro": (
        "Comanda {order_id} a fost anulată.{?refunded} Suma înapoiată: {refunded:money}.{/refunded}"
        "{?recalled} Coletul este chemat înapoi.{/recalled}"
    ),
}
REFUNDED_ANSWER: Final = {
    "en": "{refunded:money} of order {order_id} is paid back.",
    "pt-BR": "Reembolso do pedido {order_id} feito: {refunded:money}.",
    "ro": "Rambursarea pentru comanda {order_id} este făcută: {refunded:money}.",
}
ADDRESS_ANSWER: Final = {
    "en": "Order {order_id} now goes to the new address.",
    "pt-BR": "O pedido {order_id} agora vai para o novo endereço.",
    "ro": "Comanda {order_id} merge acum la noua adresă.",
}
EMAIL_ANSWER: Final = {
    "en": "The e-mail to customer {customer_id} was sent: {subject}",
    "pt-BR": "O e-mail para o cliente {customer_id} foi enviado: {subject}",
    "ro": "E-mailul către clientul {customer_id} a fost trimis: {subject}",
}
WEATHER_ANSWER: Final = {
    "en": (
        "{city}: {#days:; }{date:day}, {low} to {high} °C, "
        "{?rain_mm}{condition}, {rain_mm} mm{/rain_mm}{!rain_mm}{condition}, dry{/rain_mm}{/days}"
    ),
    "pt-BR": (
        "{city}: {#days:; }{date:day}, {low} a {high} °C, "
        "{?rain_mm}{rain_mm} mm de chuva{/rain_mm}{!rain_mm}sem chuva{/rain_mm}{/days}"
    ),
    "ro": (
        "{city}: {#days:; }{date:day}, între {low} și {high} °C, "
        "{?rain_mm}{rain_mm} mm de ploaie{/rain_mm}{!rain_mm}fără ploaie{/rain_mm}{/days}"
    ),
}

# ── previews ──────────────────────────────────────────────────────────────────────────

STATUS_WORDS: Final = {
    "en": {"pending": "pending", "paid": "paid"},
    "pt-BR": {"pending": "pendente", "paid": "pago"},
    "ro": {"pending": "în așteptare", "paid": "plătită"},
}
CANCEL_PREVIEW: Final = {
    "en": (
        "{order_id}, {items} {?several}items{/several}{!several}item{/several}, {total}, status {status} → cancelled"
        "{?shipped}; its parcel is called back{/shipped}"
    ),
    "pt-BR": (
        "{order_id}, {items} {?several}itens{/several}{!several}item{/several}, {total}, situação {status} → cancelado"
        "{?shipped}; o pacote é chamado de volta{/shipped}"
    ),
    "ro": (
        "{order_id}, {items} {?several}produse{/several}{!several}produs{/several}, {total}, stare {status} → anulată"
        "{?shipped}; coletul este chemat înapoi{/shipped}"
    ),
}
REFUND_PREVIEW: Final = {
    "en": "{order_id}, {amount} of {total} paid back, {left} left{?reason}; reason: {reason}{/reason}",
    "pt-BR": "{order_id}, {amount} de {total} devolvidos, restam {left}{?reason}; motivo: {reason}{/reason}",
    "ro": "{order_id}, {amount} din {total} înapoiați, rămân {left}{?reason}; motiv: {reason}{/reason}",
}
ADDRESS_PREVIEW: Final = {
    "en": "{order_id}, address {before} → {after}",
    "pt-BR": "{order_id}, endereço {before} → {after}",
    "ro": "{order_id}, adresa {before} → {after}",
}
