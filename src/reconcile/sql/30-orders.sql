-- Recomputes every order, event by event: which reports apply, whose click it is owed to, whether
-- it was approved or rejected (docs/spec/orders-and-money.md).

create temp table r_order_event on commit drop as
select seq, id, day, at, type, merch_id, body->>'order_id' as order_id, body
from event
where lane = 0 and type in (12, 13, 17) -- orders, returns, decisions
  and seq <= (select position from lane where lane = 0);
analyze r_order_event (seq, type, merch_id, order_id);

-- Valid clicks that an order names, its own and those its tag remembers, folded before the order
-- and not reversed by then.
create temp table r_remembered on commit drop as
select logged.seq, named.is_exact, click.click_id, click.merch_id = logged.merch_id as is_own,
  click.at, session_key, ordered.at as ordered_at, ordered.touches_until,
  (body->>'window_days')::int * interval '1 day' as reach
from r_order_event logged
cross join lateral (
  select decode(body->>'exact_click_id', 'hex') as click_id, true as is_exact
  where body->>'exact_click_id' is not null
  union all
  select decode(remembered.hex, 'hex'), false
  from jsonb_array_elements_text(body->'remembered_click_ids') as remembered (hex)
) as named
cross join lateral (
  select
    timestamptz 'epoch'
      + (report->>'ordered_at_ms')::bigint * interval '1 millisecond' as at,
    timestamptz 'epoch'
      + coalesce(report->>'touches_until_ms', report->>'ordered_at_ms')::bigint
        * interval '1 millisecond' as touches_until -- the whole day of a plain date
  from (select body->'report' as report) as reported
) as ordered
join r_click click on click.click_id = named.click_id and click.seq < logged.seq
  and click.reason in (0, 6, 12, 20, 21, 22, 24, 25)
  and (click.reversal_seq is null or click.reversal_seq > logged.seq)
where logged.type = 12 and (named.is_exact or click.at <= ordered.touches_until);
analyze r_remembered;

-- Links that the visitor had only seen, if the merchant pays for those. The event names the
-- viewable impressions; the log must contain them, in the session of a remembered click.
create temp table r_seen_link on commit drop as
select known.seq, known.click_id, seen.at, seen.impression_id,
  (logged.body->'post_impression'->>'rate_ppm')::numeric as rate
from r_remembered known
join r_order_event logged using (seq)
cross join lateral (
  select (named->>'impression_id')::bigint as impression_id, decode(named->>'click_id', 'hex')
      as click_id,
    timestamptz 'epoch' + (named->>'at_ms')::bigint * interval '1 millisecond' as at
  from jsonb_array_elements(logged.body->'post_impression'->'seen') as listed (named)
) as seen
where logged.body ? 'post_impression' and not is_exact and seen.click_id = known.click_id
  and seen.at between ordered_at - interval '1 day' and touches_until
  and (
    exists (
      select from event
      where day = (seen.at at time zone 'UTC')::date and id = seen.impression_id
        and lane > 0 and type = 3 and reason = 0 and session_key = known.session_key
    )
    or exists (
      select from view_day
      where day = (seen.at at time zone 'UTC')::date and state <> 'written'
    )
  );

-- The strongest evidence: 3 named, 2 remembered, 1 only seen.
create temp table r_found on commit drop as
select distinct on (seq) seq, click_id, sureness, rate
from (
  select seq, click_id, case when is_exact then 3 else 2 end as sureness, null::numeric as rate,
    at, 0::bigint as impression_id
  from r_remembered where is_own and at >= ordered_at - reach
  union all
  select seq, click_id, 1, rate, at, impression_id from r_seen_link
) as candidates
order by seq, sureness desc, at desc, impression_id desc, click_id desc;
create unique index on r_found (seq);

-- A reversal concerns every order for which the click was ever found.
create temp table r_step_event on commit drop as
select *, row_number() over (partition by merch_id, order_id order by seq) as n
from (
  select logged.seq, id, day, at, merch_id, order_id,
    case type when 12 then 'order' when 13 then 'return' else 'decision' end as kind,
    case when type = 12 then body->'report' || jsonb_build_object('event_id', id::text) end
      as report,
    case when type = 17 then body end as decision,
    found.click_id, found.sureness, found.rate
  from r_order_event logged left join r_found found using (seq)
  union all
  select distinct click.reversal_seq, click.reversal_id, click.reversal_day, click.reversed_at,
    logged.merch_id, logged.order_id, 'reversal', null::jsonb, null::jsonb, click.click_id,
    null::int, null::numeric
  from r_found found join r_order_event logged using (seq) join r_click click using (click_id)
  where click.reversal_seq is not null
) as every_event;
create unique index on r_step_event (merch_id, order_id, n);
analyze r_step_event (merch_id, order_id, n);

create or replace function pg_temp.newer(report jsonb, known jsonb)
returns boolean language sql immutable as $$
  select known is null
    or ((report->>'updated_at_ms')::bigint, (report->>'event_id')::bigint)
      > ((known->>'updated_at_ms')::bigint, (known->>'event_id')::bigint)
$$;

-- The JSON functions below are "stable", like the functions they call. Otherwise PostgreSQL does
-- not inline them, which costs 40 µs per call.

-- The product list in force: the report's own, or that of the earlier report it continues.
create or replace function pg_temp.listed(report jsonb)
returns jsonb language sql immutable as $$
  select case when report ? 'listed' then report->'listed'
    when report->'lines' <> '[]' then report end
$$;

-- Per source the latest report counts, with the latest product list of that source.
create or replace function pg_temp.latest(report jsonb, known jsonb)
returns jsonb language sql stable as $$
  select case
    when pg_temp.newer(report, known) then
      report || case when report->'lines' <> '[]' then '{}'
        else jsonb_build_object('listed', pg_temp.listed(known)) end
    when report->'lines' <> '[]' and pg_temp.newer(report, nullif(pg_temp.listed(known), 'null'))
      then known || jsonb_build_object('listed', report)
    else known
  end
$$;

-- The highest value that a report's source has given in a currency so far; 0 in others.
create or replace function pg_temp.most_in(currency text, report jsonb)
returns numeric language sql immutable as $$
  select case when report->>'currency' = currency
    then greatest(pg_temp.minor_of(report->>'value'), (report->>'peak')::numeric) else 0 end
$$;

-- The same with the highest value from its source in this currency, which interprets a net value.
create or replace function pg_temp.latest_with_peak(report jsonb, known jsonb)
returns jsonb language sql stable as $$
  select case when known is null then latest else latest || jsonb_build_object('peak', greatest(
      pg_temp.most_in(latest->>'currency', report), pg_temp.most_in(latest->>'currency', known)))
    end
  from pg_temp.latest(report, known) as latest
$$;

-- Why reports alone end an order.
create or replace function pg_temp.ended_by(report jsonb)
returns text language sql immutable as $$
  select case when (report->>'is_cancelled')::boolean then 'cancelled'
    when (report->>'is_test')::boolean then 'test' end
$$;

-- A report that a person has reviewed is not held again.
create or replace function pg_temp.passed(report jsonb)
returns jsonb language sql immutable as $$
  select case when report->>'hold' = 'review' then report || '{"hold": null}' else report end
$$;

-- One event of an order after the other. "offset 0" keeps PostgreSQL from inlining each step's
-- parts into one another and computing the first ones a dozen times (four times slower).
create temp table r_state on commit drop as
with recursive state as (
  select merch_id, order_id, 0::bigint as n, 0::bigint as seq, 0::bigint as id,
    null::date as day, null::text as kind, null::timestamptz as accepted_at,
    null::jsonb as pixel_report, null::jsonb as import_report, null::jsonb as s2s_report,
    null::jsonb as pixel, null::jsonb as import, null::jsonb as s2s, null::bytea as click_id,
    null::int as sureness, null::numeric as rate, null::timestamptz as owed_since,
    null::timestamptz as locks_at,
    null::timestamptz as rejected_at,
    null::text as reject_reason, false as is_waiting,
    null::timestamptz as waited_until
  from r_step_event where n = 1
  union all
  select state.merch_id, state.order_id, step.n, step.seq, step.id, step.day, step.kind,
    reported.accepted_at, reported.pixel, reported.import, reported.s2s,
    case when keeps_reports then state.pixel else reported.pixel end,
    case when keeps_reports then state.import else reported.import end,
    case when keeps_reports then state.s2s else reported.s2s end, owed.click_id, owed.sureness, owed.rate,
    owed.owed_since,
    case when owed.click_id is not null and not (is_waiting_on and is_held)
      then greatest(locked.earliest, decided.waited_until) end,
    ended.rejected_at, ended.reject_reason,
    is_waiting_on and is_held, decided.waited_until
  from state
  join r_step_event step on step.merch_id = state.merch_id and step.order_id = state.order_id
    and step.n = state.n + 1
  -- An order that only reports cancelled can be restored by reports until it would have locked.
  cross join lateral (
    select state.rejected_at is null or (
      coalesce(state.reject_reason
        = pg_temp.ended_by(coalesce(s2s_report, import_report, pixel_report)), false)
      and coalesce(step.at < state.locks_at, true)) as is_open
    offset 0
  ) as open_before
  cross join lateral (
    select step.kind = 'order' and is_open and (state.is_waiting
      or coalesce(step.at < state.accepted_at + interval '90 days', true)) as counts,
      coalesce(step.decision->>'kind' = 'approve', false) as approves
    offset 0
  ) as taken
  cross join lateral (
    select case when counts then coalesce(state.accepted_at, step.at) else state.accepted_at end
        as accepted_at,
      case when approves then pg_temp.passed(pixel_report)
        when counts and report->>'source' = 'pixel'
          then pg_temp.latest_with_peak(report, pixel_report)
        else pixel_report end as pixel,
      case when approves then pg_temp.passed(import_report)
        when counts and report->>'source' = 'import'
          then pg_temp.latest_with_peak(report, import_report)
        else import_report end as import,
      case when approves then pg_temp.passed(s2s_report)
        when counts and report->>'source' = 's2s'
          then pg_temp.latest_with_peak(report, s2s_report)
        else s2s_report end as s2s
    offset 0
  ) as reported
  cross join lateral (
    select counts and step.click_id is not null and (
      state.click_id is null
      or (step.sureness > state.sureness
        and coalesce(step.at < state.locks_at, true))
    ) as moves
    offset 0
  ) as move
  cross join lateral (
    select case when moves then step.click_id else state.click_id end as click_id,
      case when moves then step.sureness else state.sureness end as sureness,
      case when moves then step.rate else state.rate end as rate,
      case when moves then step.at else state.owed_since end as owed_since
    offset 0
  ) as owed
  left join r_click click on click.click_id = owed.click_id
  cross join lateral (
    select case when owed.click_id is not null then greatest(owed.owed_since, reported.accepted_at
      + case when click.model = 3 and owed.sureness <> 1 then interval '0'
        else interval '90 days' end) end as earliest
    offset 0
  ) as locked
  cross join lateral (
    select best->>'value_micros' is null
      or coalesce(best->>'hold' = 'review', false) as is_held
    from (select coalesce(reported.s2s, reported.import, reported.pixel) as best) as believed
    offset 0
  ) as held
  -- A hold that starts before the lock delays it until the hold ends.
  cross join lateral (
    select state.is_waiting
      or (counts and is_held and coalesce(step.at < state.locks_at, true)) as is_waiting_on
    offset 0
  ) as waiting
  -- A later hold leaves the reports in force as they were.
  cross join lateral (select is_held and not is_waiting_on as keeps_reports offset 0) as later_hold
  cross join lateral (
    select case when is_waiting_on and not is_held then step.at else state.waited_until end
      as waited_until
    offset 0
  ) as decided
  cross join lateral (
    select case
      when reported.accepted_at is null then null
      -- A reversed click makes a cancellation by reports final.
      when state.rejected_at is not null and not counts
        and not (step.kind = 'reversal' and is_open) then null
      when step.at >= state.locks_at then null -- A locked order stays locked.
      when counts
        and pg_temp.ended_by(coalesce(reported.s2s, reported.import, reported.pixel)) is not null
        then pg_temp.ended_by(coalesce(reported.s2s, reported.import, reported.pixel))
      when step.decision->>'kind' = 'reject' then step.decision->>'reason'
      when step.kind = 'reversal' and step.click_id = owed.click_id then 'click_reversed'
    end as reject_reason
    offset 0
  ) as verdict
  cross join lateral (
    select case when counts or state.rejected_at is null then verdict.reject_reason
        else coalesce(verdict.reject_reason, state.reject_reason) end as reject_reason,
      case when verdict.reject_reason is not null then coalesce(state.rejected_at, step.at)
        when not counts then state.rejected_at end as rejected_at
    offset 0
  ) as ended
)
-- The report in force, the latest report, and the lines of the most trusted source that sent any.
-- With all reports the rows would be so wide that PostgreSQL compresses them.
select merch_id, order_id, n, seq, id, day, kind, accepted_at, click_id, sureness, rate, locks_at,
  rejected_at, reject_reason, coalesce(s2s, import, pixel) as best,
  coalesce(s2s_report, import_report, pixel_report) as latest_report,
  coalesce(pg_temp.listed(s2s)->'lines', pg_temp.listed(import)->'lines',
    pg_temp.listed(pixel)->'lines', '[{}]'::jsonb) as lines
from state where n > 0;
create unique index on r_state (merch_id, order_id, n);
analyze r_state (merch_id, order_id, n, click_id);
