/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A request as libmicrohttpd hands it over: "METHOD URL", lines of headers, an empty line and the body, which comes in
 * two pieces. The functions of the library are those of this file.
 */

#include "../../community/server/serve-http.c"

#include "fuzz.h"
#include "server-place.h"

#define HEADERS_MAX 16

struct MHD_Connection {
        struct {
                char *key, *value;
        } headers[HEADERS_MAX];
        size_t n;
        union MHD_ConnectionInfo info;
        struct sockaddr_in6 address;
        unsigned status;
        size_t answers;
};

struct MHD_Response {
        size_t length;
        void *free;
};

const char *MHD_lookup_connection_value(struct MHD_Connection *connection, enum MHD_ValueKind kind, const char *key)
{
        for (size_t i = 0; i < connection->n; i++)
                if (strcasecmp(connection->headers[i].key, key) == 0)
                        return connection->headers[i].value;
        return NULL;
}

int MHD_get_connection_values(struct MHD_Connection *connection, enum MHD_ValueKind kind, MHD_KeyValueIterator iterator,
                              void *data)
{
        for (size_t i = 0; i < connection->n; i++)
                (void)iterator(data, kind, connection->headers[i].key, connection->headers[i].value);
        return (int)connection->n;
}

const union MHD_ConnectionInfo *MHD_get_connection_info(struct MHD_Connection *connection,
                                                        enum MHD_ConnectionInfoType type, ...)
{
        if (type != MHD_CONNECTION_INFO_CLIENT_ADDRESS)
                return NULL;
        connection->info.client_addr = (struct sockaddr *)(void *)&connection->address;
        return &connection->info;
}

struct MHD_Response *MHD_create_response_from_buffer(size_t size, void *buffer, enum MHD_ResponseMemoryMode mode)
{
        struct MHD_Response *response = calloc(1, sizeof(*response));

        fuzz_assert(response && size == strlen(buffer));
        response->free = mode == MHD_RESPMEM_MUST_FREE ? buffer : NULL;
        return response;
}

enum MHD_Result MHD_add_response_header(struct MHD_Response *response, const char *header, const char *content)
{
        fuzz_assert(response && *header && !strpbrk(content, "\r\n"));
        return MHD_YES;
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response)
{
        connection->status = status;
        connection->answers++;
        return MHD_YES;
}

void MHD_destroy_response(struct MHD_Response *response)
{
        free(response->free);
        free(response);
}

struct MHD_Daemon *MHD_start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback apc, void *apc_cls,
                                    MHD_AccessHandlerCallback dh, void *dh_cls, ...)
{
        return NULL;
}

void MHD_stop_daemon(struct MHD_Daemon *daemon)
{
}

const union MHD_DaemonInfo *MHD_get_daemon_info(struct MHD_Daemon *daemon, enum MHD_DaemonInfoType type, ...)
{
        return NULL;
}

static void ignore(void *data, enum log_level level, const char *sentence)
{
}

static const struct log quiet = { ignore, NULL };

/* One server for all inputs. A report was made, in which no app may be named. */
static struct server *begin(struct database **database)
{
        static struct server server;
        static struct shared_report report;
        static struct limits limits;
        static struct quota quota;
        static struct pool pool;
        static char path[96], profiles[96];
        const struct quota_counts most = { INT64_MAX, INT64_MAX, INT64_MAX };

        if (!server.log) {
                server_place_begin(path);
                snprintf(profiles, sizeof(profiles), "%s/profiles", server_place);
                fuzz_assert(mkdir(profiles, 0700) == 0);
                fuzz_assert(database_open(path, DATABASE_MAKE, &quiet, database) == 0);
                database_close(*database);
                pool_init(&pool, path, 1, 30, &quiet);
                quota_init(&quota, &most);
                pthread_rwlock_init(&report.lock, NULL);
                report.there = true;
                fuzz_assert(limits_init(&limits) == 0);
                server = (struct server){ .receiver = { .pool = &pool, .limits = &limits, .quota = &quota,
                                                        .new_clients = UINT64_MAX, .may_name = shared_report_may_name,
                                                        .data = &report },
                                          .report = &report, .profiles = profiles, .log = &quiet };
        }
        limits.hour = UINT64_MAX; /* restarts the hourly counters */
        *database = pool.places[0].database;
        return &server;
}

static char *take_line(char **text)
{
        char *line = strsep(text, "\n");

        return line ? line : (char *)(uintptr_t)"";
}

static void take_headers(struct MHD_Connection *connection, char **text)
{
        char *line;

        while (*(line = take_line(text)))
                if (connection->n < HEADERS_MAX && strchr(line, ':')) {
                        connection->headers[connection->n].key = strsep(&line, ":");
                        connection->headers[connection->n++].value = line + strspn(line, " ");
                }
}

static void check(const struct MHD_Connection *connection)
{
        static const unsigned statuses[] = { 200, 400, 401, 403, 404, 405, 413, 415, 429, 503, 507 };
        size_t i = 0;

        while (i < ARRAY_SIZE(statuses) && statuses[i] != connection->status)
                i++;
        fuzz_assert(connection->answers == 1 && i < ARRAY_SIZE(statuses));
}

static void request(struct server *server, struct MHD_Connection *connection, const char *method, const char *url,
                    const char *body, size_t length)
{
        size_t first = length / 2, none = 0, second = length - first;
        void *data = NULL;

        if (handle(server, connection, url, method, "1.1", NULL, &none, &data) == MHD_YES && !connection->answers) {
                if (first)
                        (void)handle(server, connection, url, method, "1.1", body, &first, &data);
                if (second)
                        (void)handle(server, connection, url, method, "1.1", body + length / 2, &second, &data);
                (void)handle(server, connection, url, method, "1.1", NULL, &none, &data);
        }
        completed(server, connection, &data, MHD_REQUEST_TERMINATED_COMPLETED_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = malloc(size + 1);
        struct database *database;
        struct server *server = begin(&database);
        struct MHD_Connection connection = { .address = { .sin6_family = AF_INET6,
                                                          .sin6_addr = IN6ADDR_LOOPBACK_INIT } };
        char *at = text, *url;
        const char *method;

        fuzz_assert(text);
        memcpy(text, data, size);
        text[size] = '\0';
        url = take_line(&at);
        method = strsep(&url, " ");
        take_headers(&connection, &at);
        request(server, &connection, method, url ? url : "/", at ? at : "", at ? (size_t)(text + size - at) : 0);
        check(&connection);
        begin(&database);
        if (database)
                server_place_empty(database);
        return 0;
}
