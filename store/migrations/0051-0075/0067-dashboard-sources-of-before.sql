-- stepwise
insert into dimension_source
select r.* from dimension cross join lateral dimension_source_rows(dimension) r
 where dimension.sources <> '[]'
   and not exists (select from dimension_source x where x.dimension_id = dimension.id)
   and :batch(dimension)
    on conflict do nothing;
