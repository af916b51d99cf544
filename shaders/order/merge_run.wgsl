// Merge Path (Odeh, Green, Mwassi, Shmueli and Birk, "Merge Path - parallel merging made simple", 2012): all newer records and
// a list of older ones in the order of their keys, on equal keys the older one first. An invocation merges eight records from
// where its diagonal meets the path.
//
// The entry point's file says what is merged, and to where, by older_count(), older_record(a), older_inherited(a): bits known to
// be shared with the record before it in the list, and put(i, record).

const RUN_RECORDS: u32 = 8u;

fn newer_count() -> u32 {
    return params.records - params.older_records;
}

// How the older record at `a` stands to newer record `b`, both counted in their inputs. It precedes unless it is above.
fn compare_inputs(a: u32, b: u32, known: u32) -> Comparison {
    return compare_order(older_record(a), params.older_records + b, known);
}

// How many older records are among the first `diagonal` of all.
//
// What lies between two pairs that were compared shares at least what both pairs share: the keys from the older to the newer
// one of the lower pair, and from the newer to the older one of the upper, overlap (after Manber and Myers, "Suffix
// arrays", 1993).
fn split(diagonal: u32) -> u32 {
    var low = diagonal - min(diagonal, newer_count());
    var high = min(diagonal, older_count());
    var low_shared = 0u;
    var high_shared = 0u;
    while low < high {
        let middle = low + (high - low) / 2u;
        let found = compare_inputs(middle, diagonal - 1u - middle, min(low_shared, high_shared));
        if found.order <= 0i {
            low = middle + 1u;
            low_shared = found.shared_bits;
        } else {
            high = middle;
            high_shared = found.shared_bits;
        }
    }
    return low;
}

// Merges the eight records of a run, or those that are left.
fn merge_run(run: u32) {
    let begin = RUN_RECORDS * run;
    let end = min(begin + RUN_RECORDS, older_count() + newer_count());
    if begin >= end {
        return;
    }
    var a = split(begin);
    var b = begin - a;
    // Bits that the next keys of both inputs are known to share: what one shares with its predecessor, the other may.
    var known = 0u;
    for (var i = begin; i < end; i += 1u) {
        var takes_older = b >= newer_count();
        if !takes_older && a < older_count() {
            let found = compare_inputs(a, b, known);
            takes_older = found.order <= 0i;
            known = found.shared_bits;
        }
        if takes_older {
            put(i, older_record(a));
            a += 1u;
            if known > 0u {
                known = min(known, older_inherited(a));
            }
        } else {
            put(i, params.older_records + b);
            b += 1u;
            if known > 0u {
                known = min(known, inherited(params.older_records + b));
            }
        }
    }
}
