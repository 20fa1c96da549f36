SET client_min_messages = warning;
DROP TABLE IF EXISTS items, moves;
CREATE TABLE items (id integer PRIMARY KEY, name varchar(40), price numeric(8, 2), note text, made date, ok boolean);
INSERT INTO items SELECT n, 'item ' || n, n * 1.5, CASE WHEN n % 2 = 0 THEN 'note ' || n END, date '2024-01-01' + n, n % 3 = 0 FROM generate_series(1, 20) AS n;
CREATE TABLE moves (id serial PRIMARY KEY, item integer REFERENCES items, amount integer);
DROP SEQUENCE IF EXISTS calls;
CREATE UNLOGGED SEQUENCE calls;
CREATE OR REPLACE FUNCTION twice(n integer, OUT doubled integer, OUT told text) AS $$
BEGIN doubled := n * 2; told := 'twice ' || n; END $$ LANGUAGE plpgsql;
CREATE OR REPLACE PROCEDURE move(item integer, INOUT amount integer) AS $$
BEGIN INSERT INTO moves (item, amount) VALUES (item, amount); amount := amount + 1; END $$ LANGUAGE plpgsql;
