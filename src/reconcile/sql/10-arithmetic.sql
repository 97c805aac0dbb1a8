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
create or replace function pg_temp.returned_part(total numeric, returned integer, quantity integer)
returns numeric language sql immutable as $$
  select pg_temp.half_even(total / pg_temp.unit_of(total) * returned, quantity)
    * pg_temp.unit_of(total)
$$;

-- The minor units of an amount that is written with all decimals of its currency.
create or replace function pg_temp.minor_of(amount text)
returns numeric language sql immutable as $$
  select replace(amount, '.', '')::numeric
$$;

-- What units are worth, half rounded down.
create or replace function pg_temp.units_minor(value numeric, returned integer, quantity integer)
returns numeric language sql immutable as $$
  select div(2 * value * returned + quantity - 1, 2 * quantity)
$$;

-- What is gone of a line's money after units and refunds of amounts: all of it once all value is.
create or replace function pg_temp.gone_of(
  total numeric, returned integer, quantity integer, value numeric, refunded numeric
)
returns numeric language sql immutable as $$
  select case
    when refunded = 0 then pg_temp.returned_part(total, returned, quantity)
    when pg_temp.units_minor(value, returned, quantity) + refunded >= value then total
    else least(total, pg_temp.returned_part(total, returned, quantity)
      + pg_temp.half_even(total * refunded, value))
  end
$$;

-- Whole units divided by weight, largest remainder, equal ones to the first.
create or replace function pg_temp.shared_out(total numeric, weights numeric[])
returns numeric[] language sql immutable as $$
  select array_agg(part + case when rank <= total - given then 1 else 0 end order by place)
  from (
    select place, part, sum(part) over () as given,
      row_number() over (order by lost desc, place) as rank
    from (
      select place, div(total * share, shares) as part, mod(total * share, shares) as lost
      from (
        select place, share, sum(share) over () as shares
        from (
          select place, case when max(weight) over () > 0 then weight else 1 end as share
          from unnest(weights) with ordinality as listed (weight, place)
        ) as weighed
      ) as summed
    ) as cut
  ) as ranked
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
