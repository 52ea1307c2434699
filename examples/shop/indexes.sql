-- Made after the rows are in: an index that is built once is faster than one that is kept.
CREATE INDEX customers_by_county ON customers (country, county);
CREATE INDEX orders_of_customer ON orders (customer_id, placed_at);
CREATE INDEX orders_by_county ON orders (country, county, placed_at);
CREATE INDEX orders_by_time ON orders (placed_at);
CREATE INDEX refunds_of_order ON refunds (order_id);
CREATE INDEX emails_to_customer ON emails_sent (customer_id, sent_at);
