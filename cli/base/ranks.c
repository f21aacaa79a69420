#include "base/ranks.h"

#include "base/advice.h"

#include <sherd/version.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- MPI */

#define TEXT_OF(x) #x
#define NUMBER(x) TEXT_OF(x)
#define MPI_COMPONENT "libsherd_mpi.so." NUMBER(SHERD_VERSION_MAJOR) "." NUMBER(SHERD_VERSION_MINOR)

/* Variables reach children of ranks, too, which are none: so who started us counts as well. */
static bool launcher_started_us(void)
{
	static const char *const launchers[] = {"mpirun", "mpiexec", "orterun",   "orted",     "prterun",
	                                        "prted",  "hydra",   "pmi_proxy", "slurmstepd"};
	char path[64], name[32] = "";
	(void)snprintf(path, sizeof(path), "/proc/%ld/comm", (long)getppid());
	FILE *file = fopen(path, "re");
	if (file) {
		if (!fgets(name, sizeof(name), file))
			name[0] = 0;
		(void)fclose(file);
	}
	for (size_t i = 0; i < COUNT_OF(launchers); i++)
		if (strncmp(name, launchers[i], strlen(launchers[i])) == 0)
			return true;
	return false;
}

static bool mpi_variables(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (getenv(names[i]))
			return true;
	return false;
}

/* Its plugins look for symbols of MPI. It stays loaded: MPI does not come twice. */
static int load_mpi(void **out, sherd_error *err)
{
	*out = dlopen(MPI_COMPONENT, RTLD_NOW | RTLD_GLOBAL);
	if (*out)
		return SHERD_OK;
	return cli_fail(err, SHERD_EUNSUPPORTED, "no-component",
	                "started by MPI, but the component mpi is not here (%.120s)", dlerror());
}

static int fall_silent(cli_state *cli, sherd_error *err)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	cli->out.silent = true;
	if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
		return cli_fail(err, SHERD_EIO, "io", "cannot open /dev/null: %s", strerror(errno));
	(void)close(nowhere);
	return SHERD_OK;
}

int cli_ranks_begin(cli_state *cli, const cli_args *args, sherd_error *err)
{
	const char *text = args->command->by_ranks ? cli_args_text(args, "rank") : NULL;
	bool asked = text && strcmp(text, "mpi") == 0;
	void *library;
	if (!args->command->by_ranks || (text && !asked) || (!asked && !(mpi_variables() && launcher_started_us())))
		return SHERD_OK;
	TRY(load_mpi(&library, err));
	int (*begin)(sherd_group **, sherd_error *) = NULL;
	*(void **)&begin = dlsym(library, "sherd_mpi_begin");
	*(void **)&cli->group_end = dlsym(library, "sherd_mpi_end");
	if (!begin || !cli->group_end)
		return cli_fail(err, SHERD_EUNSUPPORTED, "no-component", "the component mpi is of another version");
	TRY(begin(&cli->group, err));
	return cli->group->rank ? fall_silent(cli, err) : SHERD_OK;
}

int cli_ranks_end(cli_state *cli, const cli_args *args, int rc, sherd_error *err)
{
	if (!cli->group)
		return rc;
	int all = cli->group->failed ? rc : sherd_group_agree(cli->group, rc, err);
	if (all < 0) {
		/* Told before anybody ends: launchers stop the others when the first one has failed. */
		cli_advise(args, err);
		cli_out_error(&cli->out, err);
		cli->out.silent = true;
	}
	cli->group_end(cli->group);
	cli->group = NULL;
	return all < 0 ? all : rc;
}

/* ---- variables */

/* Launchers that start others come after those that they start. */
static const struct launcher {
	const char *rank, *world;
	const char *job, *more, *restart; /* that tell one job from another; or NULL */
} launchers[] = {
	{"RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_RESTART_COUNT"},
	{"PMI_RANK", "PMI_SIZE", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_RESTART_COUNT"},
	{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"},
};

static const struct launcher *find_launcher(void)
{
	for (size_t i = 0; i < COUNT_OF(launchers); i++)
		if (getenv(launchers[i].rank) && getenv(launchers[i].world))
			return &launchers[i];
	return NULL;
}

static int ranks_take_variable(const char *name, uint32_t *out, sherd_error *err)
{
	const char *text = getenv(name);
	char *end = NULL;
	errno = 0;
	unsigned long value = text ? strtoul(text, &end, 10) : 0;
	if (!text || *text < '0' || *text > '9' || *end || errno || value > UINT32_MAX)
		return cli_usage(err, "--rank auto: %s is '%.40s', no number", name, text ? text : "");
	*out = (uint32_t)value;
	return SHERD_OK;
}

static int ranks_take_variables(cli_ranks *out, sherd_error *err)
{
	const struct launcher *l = find_launcher();
	if (!l)
		return cli_usage(err, "--rank auto: no variables of torchrun, MPI or SLURM are set");
	TRY(ranks_take_variable(l->rank, &out->rank, err));
	TRY(ranks_take_variable(l->world, &out->world, err));
	if (out->rank >= out->world)
		return cli_usage(err, "--rank auto: %s is %" PRIu32 ", but %s is %" PRIu32, l->rank, out->rank,
		                 l->world, out->world);
	return SHERD_OK;
}

int cli_ranks_set_id(sherd_set_id *out, const char *prefix, const char *step, sherd_error *err)
{
	const struct launcher *l = find_launcher();
	const char *job = l && l->job ? getenv(l->job) : NULL;
	const char *more = l && l->more ? getenv(l->more) : NULL;
	const char *restart = l && l->restart ? getenv(l->restart) : NULL;
	/* What torchrun calls a job that nobody named. */
	if ((!job || strcmp(job, "none") == 0) && !more)
		return cli_usage(err, "--rank auto finds no id of the job: say --set-id, the same for all ranks");
	const char *const texts[] = {job ? job : "", more ? more : "", restart ? restart : "0", prefix,
	                             step ? step : ""};
	return sherd_set_id_of(out, texts, COUNT_OF(texts), err);
}

/* ---- options */

int cli_ranks_take(cli_ranks *out, const sherd_group *group, const cli_args *args, sherd_error *err)
{
	const char *rank = cli_args_text(args, "rank");
	*out = (cli_ranks){0};
	if (group) {
		*out = (cli_ranks){true, true, group->rank, group->size};
		return cli_args_has(args, "world") ? cli_usage(err, "--world is MPI's own") : SHERD_OK;
	}
	if (rank && strcmp(rank, "auto") == 0) {
		if (cli_args_has(args, "world"))
			return cli_usage(err, "--rank auto finds the world, too: it does not go with --world");
		out->several = out->found = true;
		return ranks_take_variables(out, err);
	}
	TRY(cli_args_count(args, "world", 1, &out->world, err));
	TRY(cli_args_count(args, "rank", 0, &out->rank, err));
	out->several = rank;
	if (out->several != (out->world != 0))
		return cli_usage(err, "--rank and --world go together");
	if (out->world && out->rank >= out->world)
		return cli_usage(err, "--rank must be below --world %" PRIu32, out->world);
	return SHERD_OK;
}

bool cli_ranks_in_path(const char *path)
{
	return strstr(path, "%r");
}

char *cli_ranks_path(const cli_ranks *ranks, const char *path)
{
	if (!ranks->found)
		return strdup(path);
	char number[16];
	int digits = snprintf(number, sizeof(number), "%" PRIu32, ranks->rank);
	size_t room = strlen(path) * (size_t)digits + 1;
	char *out = malloc(room), *to = out;
	for (const char *at = path; out && *at; at++) {
		if (at[0] == '%' && at[1] == 'r') {
			memcpy(to, number, (size_t)digits);
			to += digits;
			at++;
		} else {
			*to++ = *at;
		}
	}
	if (to)
		*to = 0;
	return out;
}
