/* bench/peers.h - what Python programs use to save tensors, driven from here so that it takes turns with us. */
#ifndef SHERD_BENCH_PEERS_H
#define SHERD_BENCH_PEERS_H

#include <stdint.h>
#include <stdio.h>

typedef struct bench_peers {
	FILE *to, *from;
	int process;
} bench_peers;

/* Starts bench/peers.py by SHERD_BENCH_PYTHON, or python3, over memory that it maps; false when there is none. */
int bench_peers_start(bench_peers *p, int memory, uint64_t bytes, uint64_t tensor_bytes);
/* Its version, or NULL when it is not here. Valid until the next call. */
const char *bench_peer_version(bench_peers *p, const char *peer);
/* Seconds of saving all tensors to one file, durably. */
double bench_peer_save(bench_peers *p, const char *peer);
void bench_peers_stop(bench_peers *p);

#endif
