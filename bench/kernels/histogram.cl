kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void histogram(global const uchar* bytes, global uint* counts, uint bytes_per_item) {
  local uint table[256];
  uint item = get_local_id(0);
  table[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  bytes += get_group_id(0) * 256 * bytes_per_item + item;
  for (uint i = 0; i < bytes_per_item; ++i) {
    atomic_inc(&table[bytes[i * 256]]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&counts[item], table[item]);
}
