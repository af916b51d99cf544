// How many records both inputs have, and the older one: the params of passes that need just these.

struct Params {
    records: u32,
    older_records: u32,
}
var<immediate> params: Params;
