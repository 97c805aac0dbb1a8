-- Exact arithmetic for the steps that follow: whole micro-dollars as numeric, nothing shared with
-- the program that is being checked.

create or replace function pg_temp.half_even(numerator numeric, denominator numeric)
returns numeric language sql immutable as $$
  select case
    when rest * 2 > denominator or (rest * 2 = denominator and mod(quotient, 2) = 1)
    then quotient + 1 else quotient
  end
  from (
    select div(numerator, denominator) as quotient, mod(numerator, denominator) as rest
  ) as parts
$$;

-- A cent where the amount is whole cents, else a micro-dollar.
create or replace function pg_temp.unit_of(amount numeric)
returns numeric language sql immutable as $$
  select case when mod(amount, 10000) = 0 then 10000 else 1 end
$$;

-- Largest remainder; equal remainders to the lower index; weights of nothing count alike.
create or replace function pg_temp.allocate(total numeric, weights numeric[])
returns numeric[] language sql immutable as $$
  with weighed as (
    select place,
      case when (select max(w) from unnest(weights) w) > 0 then weight else 1 end as weight
    from unnest(weights) with ordinality as given (weight, place)
  ), cut as (
    select place, div(total / pg_temp.unit_of(total) * weight, sum(weight) over ()) as part,
      mod(total / pg_temp.unit_of(total) * weight, sum(weight) over ()) as lost
    from weighed
  ), ranked as (
    select place, part, row_number() over (order by lost desc, place) as rank,
      total / pg_temp.unit_of(total) - sum(part) over () as left_over
    from cut
  )
  select array_agg(
    (part + case when rank <= left_over then 1 else 0 end) * pg_temp.unit_of(total) order by place
  ) from ranked
$$;

-- What is gone after `returned` of `quantity` units, rounded once on the running total.
create or replace function pg_temp.taken_back(total numeric, returned integer, quantity integer)
returns numeric language sql immutable as $$
  select pg_temp.half_even(total / pg_temp.unit_of(total) * returned, quantity)
    * pg_temp.unit_of(total)
$$;

-- Ids inside of keys, escaped as addresses are, so that two keys never look alike.
create or replace function pg_temp.escaped(id text)
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
