kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void nbody(global const float4* bodies, global float4* accelerations, uint n) {
  local float4 tile[256];
  uint i = get_global_id(0), item = get_local_id(0);
  float4 p = bodies[i];
  float ax = 0, ay = 0, az = 0;
  for (uint first = 0; first < n; first += 256) {
    tile[item] = bodies[first + item];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < 256; ++j) {
      float4 q = tile[j];
      float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
      float inverse = rsqrt(dx * dx + dy * dy + dz * dz + 1e-3f);
      float force = q.w * inverse * inverse * inverse;
      ax += force * dx;
      ay += force * dy;
      az += force * dz;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  accelerations[i] = (float4)(ax, ay, az, 0);
}
