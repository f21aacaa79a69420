#include "peers.h"

#include "machine.h"
#include "measure.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_python(const char *python, int memory, uint64_t bytes, uint64_t tensor_bytes, const int pipes[4])
{
	char map[64], size[32], each[32];
	(void)snprintf(map, sizeof(map), "/proc/self/fd/%d", memory);
	(void)snprintf(size, sizeof(size), "%llu", (unsigned long long)bytes);
	(void)snprintf(each, sizeof(each), "%llu", (unsigned long long)tensor_bytes);
	if (dup2(pipes[0], 0) < 0 || dup2(pipes[3], 1) < 0)
		_exit(1);
	for (int i = 0; i < 4; i++)
		(void)close(pipes[i]);
	(void)execlp(python, python, "bench/peers.py", map, size, each, bench_folder(), (char *)NULL);
	_exit(1);
}

int bench_peers_start(bench_peers *p, int memory, uint64_t bytes, uint64_t tensor_bytes)
{
	const char *python = getenv("SHERD_BENCH_PYTHON");
	int pipes[4];
	if (pipe(pipes) < 0 || pipe(pipes + 2) < 0)
		bench_fail("no pipe");
	(void)signal(SIGPIPE, SIG_IGN);
	(void)fflush(stdout);
	p->process = fork();
	if (p->process < 0)
		bench_fail("cannot fork");
	if (p->process == 0)
		run_python(python ? python : "python3", memory, bytes, tensor_bytes, pipes);
	(void)close(pipes[0]);
	(void)close(pipes[3]);
	p->to = fdopen(pipes[1], "w");
	p->from = fdopen(pipes[2], "r");
	if (!p->to || !p->from)
		bench_fail("no memory");
	return bench_peer_version(p, "python") != NULL;
}

static const char *ask(bench_peers *p, const char *verb, const char *peer)
{
	static char line[256];
	if (fprintf(p->to, "%s %s\n", verb, peer) < 0 || fflush(p->to) != 0 || !fgets(line, sizeof(line), p->from))
		return NULL;
	line[strcspn(line, "\n")] = 0;
	return *line ? line : NULL;
}

const char *bench_peer_version(bench_peers *p, const char *peer)
{
	return ask(p, "version", peer);
}

double bench_peer_save(bench_peers *p, const char *peer)
{
	const char *answer = ask(p, "save", peer);
	double seconds = answer ? atof(answer) : 0;
	if (seconds <= 0)
		bench_fail("%s failed to save", peer);
	bench_settle();
	return seconds;
}

void bench_peers_stop(bench_peers *p)
{
	(void)fclose(p->to);
	(void)fclose(p->from);
	(void)waitpid(p->process, NULL, 0);
}
