#include "python.h"

#include "measure.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(const char *const *arguments, const int pipes[4])
{
	enum { MOST = 8 };
	const char *named = getenv("SHERD_BENCH_PYTHON"), *python = named ? named : "python3";
	/* From this word Python finds the packages of a virtual environment. */
	char *list[MOST + 2] = {(char *)python};
	for (int i = 0; i < MOST && arguments[i]; i++)
		list[i + 1] = (char *)arguments[i];
	/* However this program ends, the script does not stay behind. */
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (dup2(pipes[0], 0) < 0 || dup2(pipes[3], 1) < 0)
		_exit(1);
	for (int i = 0; i < 4; i++)
		(void)close(pipes[i]);
	(void)execvp(python, list);
	_exit(1);
}

void bench_python_start(bench_python *p, const char *const *arguments)
{
	int pipes[4];
	if (pipe(pipes) < 0 || pipe(pipes + 2) < 0)
		bench_fail("no pipe");
	(void)signal(SIGPIPE, SIG_IGN);
	(void)fflush(stdout);
	p->process = fork();
	if (p->process < 0)
		bench_fail("cannot fork");
	if (p->process == 0)
		run(arguments, pipes);
	(void)close(pipes[0]);
	(void)close(pipes[3]);
	p->to = fdopen(pipes[1], "w");
	p->from = fdopen(pipes[2], "r");
	if (!p->to || !p->from)
		bench_fail("no memory");
}

const char *bench_python_line(bench_python *p)
{
	if (!fgets(p->line, sizeof(p->line), p->from))
		return NULL;
	p->line[strcspn(p->line, "\n")] = 0;
	return *p->line ? p->line : NULL;
}

const char *bench_python_ask(bench_python *p, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int sent = vfprintf(p->to, fmt, ap);
	va_end(ap);
	return sent < 0 || fputc('\n', p->to) == EOF || fflush(p->to) != 0 ? NULL : bench_python_line(p);
}

void bench_python_stop(bench_python *p)
{
	(void)fclose(p->to);
	(void)fclose(p->from);
	(void)waitpid(p->process, NULL, 0);
}
