// Writes what pack.wgsl makes of a tile where there is one route. The kernel declares `classes` and `counts`.

// The classes and counts of the tile that begins with run `first_run` of `n` items. Control flow must be uniform.
fn write_classes(first_run: u32, n: u32, local: u32) {
    let words = class_words(n);
    for (var word = local; word < TILE_RUNS * run_words(); word += GROUP) {
        let packed = pack(word);
        let place = first_run * run_words() + word;
        if place < words {
            classes[place] = packed;
        }
    }
    workgroupBarrier();

    if local < TILE_RUNS && first_run + local < runs_of(n) {
        counts[first_run + local] = atomicLoad(&run_counts[local]);
    }
}
