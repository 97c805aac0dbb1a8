-- Exact arithmetic for the following steps: whole micro-dollars as numeric. Shares nothing with the
-- program being checked.

-- A single expression each, so that the planner can inline the call.
create or replace function pg_temp.half_even(numerator numeric, denominator numeric)
returns numeric language sql immutable as $$
  select div(numerator, denominator) + case
    when mod(numerator, denominator) * 2 > denominator
      or (mod(numerator, denominator) * 2 = denominator
        and mod(div(numerator, denominator), 2) = 1)
    then 1 else 0
  end
$$;

-- A cent if the amount is whole cents, else a micro-dollar.
create or replace function pg_temp.unit_of(amount numeric)
returns numeric language sql immutable as $$
  select case when mod(amount, 10000) = 0 then 10000 else 1 end
$$;

-- What is reversed after `returned` of `quantity` units, rounded once on the running total.
create or replace function pg_temp.taken_back(total numeric, returned integer, quantity integer)
returns numeric language sql immutable as $$
  select pg_temp.half_even(total / pg_temp.unit_of(total) * returned, quantity)
    * pg_temp.unit_of(total)
$$;

-- Ids inside keys are percent-encoded, so that two keys never look alike.
create or replace function pg_temp.escaped_bytes(id text)
returns text language sql immutable as $$
  select coalesce(string_agg(
    case when chr(byte) ~ '[A-Za-z0-9_.!~*''()-]' then chr(byte)
      else '%' || upper(lpad(to_hex(byte), 2, '0')) end, '' order by place), '')
  from (
    select place, get_byte(convert_to(id, 'UTF8'), place) as byte
    from generate_series(0, octet_length(id) - 1) as place
  ) as bytes
  where byte > 0
$$;

-- Most ids need no escaping.
create or replace function pg_temp.escaped(id text)
returns text language sql immutable as $$
  select case when id ~ '^[A-Za-z0-9_.!~*''()-]*$' then id else pg_temp.escaped_bytes(id) end
$$;

-- The key of an order's line: of several lines with one product, later ones also have a number.
create or replace function pg_temp.line_key(
  order_id text, merch_id integer, product_id text, repeat bigint
)
returns text language sql immutable as $$
  select pg_temp.escaped(order_id) || ':' || merch_id::text || ':'
    || pg_temp.escaped(coalesce(product_id, ''))
    || case when repeat = 1 then '' else ':' || repeat::text end
$$;
