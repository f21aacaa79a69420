/* bench/peers.h - what Python programs use to save tensors, driven from here so that it takes turns with us. */
#pragma once

#include "python.h"

#include <stdint.h>

/* Starts bench/peers.py over memory that it maps; false when there is no Python. bench_python_stop() ends it. */
int bench_peers_start(bench_python *p, int memory, uint64_t bytes, uint64_t tensor_bytes);
/* Its version, or NULL when it is not here. Valid until the next call. */
const char *bench_peer_version(bench_python *p, const char *peer);
/* Seconds of saving all tensors to one file, durably. */
double bench_peer_save(bench_python *p, const char *peer);
