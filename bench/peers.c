#include "peers.h"

#include "machine.h"
#include "measure.h"

#include <stdlib.h>

int bench_peers_start(bench_python *p, int memory, uint64_t bytes, uint64_t tensor_bytes)
{
	char map[64], size[32], each[32];
	(void)snprintf(map, sizeof(map), "/proc/self/fd/%d", memory);
	(void)snprintf(size, sizeof(size), "%llu", (unsigned long long)bytes);
	(void)snprintf(each, sizeof(each), "%llu", (unsigned long long)tensor_bytes);
	bench_python_start(p, (const char *const[]){"bench/peers.py", map, size, each, bench_folder(), NULL});
	return bench_peer_version(p, "python") != NULL;
}

const char *bench_peer_version(bench_python *p, const char *peer)
{
	return bench_python_ask(p, "version %s", peer);
}

double bench_peer_save(bench_python *p, const char *peer)
{
	const char *answer = bench_python_ask(p, "save %s", peer);
	double seconds = answer ? atof(answer) : 0;
	if (seconds <= 0)
		bench_fail("%s failed to save", peer);
	bench_settle();
	return seconds;
}
