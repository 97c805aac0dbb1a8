-- Explaining, reversing and forgetting ask for all clicks of a result, the unpaid ones as well.
create index click_of_result on click using hash (result_number);

-- How far upkeep that goes by time has come: what it has judged once is not looked at again.
create table upkeep (
  task text primary key,
  done_until timestamptz not null
);
