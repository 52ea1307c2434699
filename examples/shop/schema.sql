-- The shop's tables, for SQLite 3.37 or newer.
--
-- Money is whole minor units (centavos, bani). Times are UTC, 'YYYY-MM-DD HH:MM:SS', so that they sort as text
-- and SQLite's date functions read them.
--
-- Money and parcel are two things: orders.status is how far the money is, and the shipment says where the parcel
-- is. An order that was paid and has left the house is 'paid' and has a shipment; it stays 'paid' when it arrives.

CREATE TABLE customers (
    id         TEXT PRIMARY KEY CHECK (id GLOB 'c[1-9]*'),
    name       TEXT NOT NULL,
    email      TEXT NOT NULL UNIQUE CHECK (email = lower(email)),
    plan       TEXT NOT NULL CHECK (plan IN ('basic', 'plus', 'business')),
    status     TEXT NOT NULL CHECK (status IN ('active', 'inactive', 'trial')),
    language   TEXT NOT NULL CHECK (language IN ('pt-BR', 'ro', 'en')),
    country    TEXT NOT NULL CHECK (country IN ('BR', 'RO')),
    county     TEXT NOT NULL,               -- a Brazilian state or a Romanian județ
    address    TEXT NOT NULL,
    created_at TEXT NOT NULL,
    deleted_at TEXT,                        -- closed accounts stay, for the books
    search     TEXT NOT NULL                -- name, e-mail and id without case and accents
) STRICT;

CREATE TABLE products (
    sku       TEXT PRIMARY KEY,
    name_pt   TEXT NOT NULL,
    name_ro   TEXT NOT NULL,
    name_en   TEXT NOT NULL,
    price_brl INTEGER NOT NULL CHECK (price_brl > 0),
    price_ron INTEGER NOT NULL CHECK (price_ron > 0),
    search    TEXT NOT NULL                 -- sku and names without case and accents
) STRICT;

CREATE TABLE stock (
    sku       TEXT NOT NULL REFERENCES products,
    warehouse TEXT NOT NULL CHECK (warehouse IN ('Cluj-Napoca', 'São Paulo')),
    available INTEGER NOT NULL CHECK (available >= 0),
    PRIMARY KEY (sku, warehouse)
) STRICT;

CREATE TABLE orders (
    id          INTEGER PRIMARY KEY CHECK (id > 0),
    customer_id TEXT NOT NULL REFERENCES customers,
    status      TEXT NOT NULL CHECK (status IN ('pending', 'paid', 'cancelled', 'refunded')),
    currency    TEXT NOT NULL CHECK (currency IN ('BRL', 'RON')),
    total       INTEGER NOT NULL CHECK (total > 0),
    country     TEXT NOT NULL CHECK (country IN ('BR', 'RO')),
    county      TEXT NOT NULL,              -- where the customer lived when ordering
    address     TEXT NOT NULL,              -- where the parcel goes
    placed_at   TEXT NOT NULL,
    version     INTEGER NOT NULL DEFAULT 1  -- grows with every change: a change names the version that it rests on
) STRICT;

CREATE TABLE order_items (
    order_id   INTEGER NOT NULL REFERENCES orders,
    line       INTEGER NOT NULL CHECK (line > 0),
    sku        TEXT NOT NULL REFERENCES products,
    quantity   INTEGER NOT NULL CHECK (quantity > 0),
    unit_price INTEGER NOT NULL CHECK (unit_price > 0),
    PRIMARY KEY (order_id, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE shipments (
    order_id     INTEGER PRIMARY KEY REFERENCES orders,
    carrier      TEXT NOT NULL,
    tracking     TEXT NOT NULL,
    shipped_at   TEXT NOT NULL,
    delivered_at TEXT CHECK (delivered_at > shipped_at),
    recalled_at  TEXT CHECK (recalled_at > shipped_at)  -- the carrier was told to bring it back
) STRICT;

CREATE TABLE refunds (
    id          INTEGER PRIMARY KEY,
    order_id    INTEGER NOT NULL REFERENCES orders,
    amount      INTEGER NOT NULL CHECK (amount > 0),
    reason      TEXT NOT NULL,
    refunded_at TEXT NOT NULL,
    refunded_by TEXT NOT NULL
) STRICT;

CREATE TABLE emails_sent (
    id          INTEGER PRIMARY KEY,
    customer_id TEXT NOT NULL REFERENCES customers,
    recipient   TEXT NOT NULL,
    subject     TEXT NOT NULL,
    body        TEXT NOT NULL,
    sent_at     TEXT NOT NULL,
    sent_by     TEXT NOT NULL
) STRICT;

CREATE TABLE staff (
    id       TEXT PRIMARY KEY,
    name     TEXT NOT NULL,
    email    TEXT NOT NULL UNIQUE,
    role     TEXT NOT NULL CHECK (role IN ('support', 'finance', 'analyst', 'warehouse')),
    language TEXT NOT NULL CHECK (language IN ('pt-BR', 'ro', 'en')),
    country  TEXT NOT NULL CHECK (country IN ('BR', 'RO'))
) STRICT;

-- What no tool and no question may ever reach.
CREATE TABLE payroll (
    staff_id TEXT NOT NULL REFERENCES staff,
    month    TEXT NOT NULL,
    salary   INTEGER NOT NULL CHECK (salary > 0),
    currency TEXT NOT NULL CHECK (currency IN ('BRL', 'RON')),
    iban     TEXT NOT NULL,
    PRIMARY KEY (staff_id, month)
) STRICT;

-- What was done under an idempotency key, and what came of it.
CREATE TABLE effects (
    key       TEXT PRIMARY KEY,
    verb      TEXT NOT NULL,
    arguments TEXT NOT NULL,
    result    TEXT NOT NULL,
    done_at   TEXT NOT NULL
) STRICT;
