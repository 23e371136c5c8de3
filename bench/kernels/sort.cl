kernel void bitonic(global uint* values, uint distance, uint block) {
  uint i = get_global_id(0), partner = i ^ distance;
  if (partner > i) {
    uint a = values[i], b = values[partner];
    bool ascending = (i & block) == 0;
    if ((a > b) == ascending) {
      values[i] = b;
      values[partner] = a;
    }
  }
}
