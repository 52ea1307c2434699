-- name: orders_by_status
-- Say how many orders are in each status.
-- param: limit int 1..50 = 10
SELECT status AS name, count(*) AS value FROM orders GROUP BY status ORDER BY value DESC LIMIT :limit;

-- name: best_products
-- Say what was sold most.
-- param: limit int 1..50 = 10
SELECT sku AS name, sum(quantity) AS value FROM order_items GROUP BY sku ORDER BY value DESC, sku LIMIT :limit;

-- name: low_stock
-- Say what is running out.
-- param: limit int 1..50 = 10
SELECT sku AS name, sum(available) AS value FROM stock GROUP BY sku ORDER BY value, sku LIMIT :limit;
