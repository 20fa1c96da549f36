DROP TABLE IF EXISTS moves;
DROP TABLE IF EXISTS items;
CREATE TABLE items (id integer PRIMARY KEY, name varchar(40), price decimal(8, 2), note text, made date, ok boolean);
INSERT INTO items SELECT seq, concat('item ', seq), seq * 1.5, CASE WHEN seq % 2 = 0 THEN concat('note ', seq) END, date_add('2024-01-01', INTERVAL seq DAY), seq % 3 = 0 FROM seq_1_to_20;
CREATE TABLE moves (id integer AUTO_INCREMENT PRIMARY KEY, item integer, amount integer, FOREIGN KEY (item) REFERENCES items (id));
DROP PROCEDURE IF EXISTS twice;
DROP PROCEDURE IF EXISTS move;
DELIMITER //
CREATE PROCEDURE twice(IN n integer, OUT doubled integer, OUT told varchar(40))
BEGIN SET doubled = n * 2, told = concat('twice ', n); END //
CREATE PROCEDURE move(IN item integer, INOUT amount integer)
BEGIN INSERT INTO moves (item, amount) VALUES (item, amount); SET amount = amount + 1; END //
DELIMITER ;
