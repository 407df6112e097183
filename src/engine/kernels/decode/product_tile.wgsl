// A tile of weight rows and rows. A team sums WEIGHTS x BATCH products at a time, each as product_rows.wgsl sums it: a thread its
// lanes of 16 in order, then a tree over the team, then the shares one after the other. All sums live in registers, so that
// statements are written out (product_tile.cpp).
var<private> first_row: u32;  // The first of the BATCH rows of this team.

const STRIDE = TEAM * SHARE;
const SUMS = WEIGHTS * BATCH;
const OUT = max(1u, SUMS / TEAM);     // Sums that a thread has in the end,
const SAME = max(1u, TEAM / SUMS);    // and threads that have the same ones.
const WORKGROUP_ROWS = TEAMS / TEAMS_ACROSS * BATCH;

fn kernel(group: vec3u, groups: vec3u, index: u32, team: u32, lane: u32) {
  let across = team % TEAMS_ACROSS;
  let down = team / TEAMS_ACROSS;
  let block = group.x + group.y * groups.x;
  let row_base = group.z * WORKGROUP_ROWS;
  first_row = row_base + down * BATCH;
@ROWS
  var totals = array<f32, OUT>();
  for (var share = 0u; share < SHARE; share++) {
@ZEROS
    for (var first = 0u; first < LANES; first += STRIDE) {
      let i = first + share * TEAM + lane;
      if (@INSIDE) {
@LANE
      }
    }
@TREE
  }
  finish(block, row_base, across, down, index, lane, totals);
}
