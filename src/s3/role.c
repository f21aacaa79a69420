#include "role.h"

#include <sherd/sys/backend.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum { CONTAINER_MS = 5000, INSTANCE_MS = 1000, MOST_VALUE = 8192 };

static void forget_secret(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}

void shd_s3_credentials_free(shd_s3_credentials *c)
{
	free(c->id);
	forget_secret(c->secret);
	forget_secret(c->token);
	*c = (shd_s3_credentials){0};
}

static int no_role(const char *why, sherd_error *err)
{
	return sherd_fail(
		err, SHERD_EINVAL, "no-credentials",
		"no credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the shared files, or a role: %s", why);
}

/* The text of a member of a flat JSON object, or NULL. Their values have no escapes but of '/'. */
static char *member(const char *json, const char *name)
{
	char quoted[64];
	(void)snprintf(quoted, sizeof(quoted), "\"%s\"", name);
	const char *at = strstr(json, quoted);
	if (!at)
		return NULL;
	at += strlen(quoted);
	at += strspn(at, " \t\r\n");
	if (*at++ != ':')
		return NULL;
	at += strspn(at, " \t\r\n");
	if (*at++ != '"')
		return NULL;
	size_t len = strcspn(at, "\"");
	char *value = len < MOST_VALUE && at[len] ? malloc(len + 1) : NULL, *to = value;
	for (size_t i = 0; value && i < len; i++)
		if (at[i] != '\\')
			*to++ = at[i];
	if (value)
		*to = 0;
	return value;
}

/* One request; the answer, to be freed, or NULL. */
static char *role_request(shd_http *http, const char *method, const char *url, const char *header, long most_ms)
{
	shd_http_request r = {.method = method, .most_ms = most_ms, .direct = true};
	char *answer = NULL;
	shd_s3_text_say(&r.url, "%s", url);
	shd_s3_text_say(&r.headers, "Accept:\n%s\n", header);
	shd_http_start(http, &r);
	shd_http_wait(http, &r);
	if (r.status == 200 && strlen(shd_s3_text_of(&r.answer)) == r.answer.len)
		answer = strdup(shd_s3_text_of(&r.answer));
	shd_http_clean(&r);
	return answer;
}

static int take_credentials(shd_s3_credentials *out, const char *json, sherd_error *err)
{
	char *until = member(json, "Expiration");
	struct tm t = {0};
	shd_s3_credentials c = {.id = member(json, "AccessKeyId"),
	                        .secret = member(json, "SecretAccessKey"),
	                        .token = member(json, "Token")};
	if (until && strptime(until, "%Y-%m-%dT%H:%M:%S", &t))
		c.until = (int64_t)timegm(&t);
	free(until);
	if (!c.id || !c.secret || strpbrk(c.id, "\r\n/, ") || (c.token && strpbrk(c.token, "\r\n"))) {
		shd_s3_credentials_free(&c);
		return no_role("what was sent holds none", err);
	}
	*out = c;
	return SHERD_OK;
}

/* A secret may go unencrypted only to this machine. */
static bool is_near(const char *url)
{
	static const char *const near[] = {"localhost", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
	struct in_addr address;
	char host[256];
	bool encrypted = false;
	if (!shd_http_host(url, &encrypted, host, sizeof(host)))
		return false;
	bool found = encrypted || (inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
	for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++)
		found = found || strcasecmp(host, near[i]) == 0;
	return found;
}

/* The header that a container shows: its token by itself, or in a file. */
static int container_header(shd_s3_text *out, sherd_error *err)
{
	const char *path = getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"),
		   *token = getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN");
	char line[MOST_VALUE] = "";
	if (path && *path) {
		int file = open(path, O_RDONLY | O_CLOEXEC);
		if (file < 0 || read(file, line, sizeof(line) - 1) < 0)
			path = NULL;
		if (file >= 0)
			(void)close(file);
		if (!path)
			return no_role("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE cannot be read", err);
		token = line;
	}
	if (token && *token)
		shd_s3_text_say(out, "Authorization: %.*s", (int)strcspn(token, "\r\n"), token);
	explicit_bzero(line, sizeof(line));
	return SHERD_OK;
}

static int ask_container(shd_s3_credentials *out, shd_http *http, const char *url, sherd_error *err)
{
	shd_s3_text header = {0};
	if (!is_near(url))
		return no_role("AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor of this machine", err);
	int rc = container_header(&header, err);
	char *json = rc == SHERD_OK ? role_request(http, "GET", url, shd_s3_text_of(&header), CONTAINER_MS) : NULL;
	if (rc == SHERD_OK)
		rc = json ? take_credentials(out, json, err) : no_role("the container's endpoint gives none", err);
	forget_secret(json);
	shd_s3_text_free(&header);
	return rc;
}

static int ask_instance(shd_s3_credentials *out, shd_http *http, const char *endpoint, sherd_error *err)
{
	static const char path[] = "latest/meta-data/iam/security-credentials/";
	char url[512], header[1024] = "";
	(void)snprintf(url, sizeof(url), "%.200s/latest/api/token", endpoint);
	char *token = role_request(http, "PUT", url, "X-aws-ec2-metadata-token-ttl-seconds: 21600", INSTANCE_MS);
	if (!token)
		return no_role("this is no instance that gives any", err);
	(void)snprintf(header, sizeof(header), "X-aws-ec2-metadata-token: %.*s", (int)strcspn(token, "\r\n"), token);
	forget_secret(token);
	(void)snprintf(url, sizeof(url), "%.200s/%s", endpoint, path);
	char *role = role_request(http, "GET", url, header, INSTANCE_MS), *json = NULL;
	if (role) {
		(void)snprintf(url, sizeof(url), "%.200s/%s%.*s", endpoint, path, (int)strcspn(role, "\r\n"), role);
		json = role_request(http, "GET", url, header, INSTANCE_MS);
	}
	int rc = json ? take_credentials(out, json, err) : no_role("the instance has none", err);
	free(role);
	forget_secret(json);
	explicit_bzero(header, sizeof(header));
	return rc;
}

int shd_s3_role_ask(shd_s3_credentials *out, shd_http *http, sherd_error *err)
{
	const char *relative = getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
	const char *full = getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI"), *off = getenv("AWS_EC2_METADATA_DISABLED");
	const char *endpoint = getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT");
	char url[512];
	if (relative && *relative) {
		(void)snprintf(url, sizeof(url), "http://169.254.170.2%.400s", relative);
		return ask_container(out, http, url, err);
	}
	if (full && *full)
		return ask_container(out, http, full, err);
	if (off && strcasecmp(off, "true") == 0)
		return no_role("AWS_EC2_METADATA_DISABLED", err);
	return ask_instance(out, http, endpoint && *endpoint ? endpoint : "http://169.254.169.254", err);
}
