/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* All calls of libmicrohttpd are in this file. community/METHOD.md describes the protocol. */

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <string.h>

#include "shared/name-hash.h"
#include "peer.h"
#include "serve.h"
#include "util/util.h"

#define IDLE_S 30
#define CONNECTION_BYTES 16384 /* for headers; a body has its own limit */
#define DAEMON_CONNECTIONS (CONNECTIONS_MAX * 4) /* one thread may get more than its part of them */
#define TOKEN_DIGITS 64

/* A request, from its first line to the response. */
struct request {
        char *body;
        size_t length, capacity;
        bool too_large;
};

static void find_peer(struct MHD_Connection *connection, struct peer *ret)
{
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

        peer_find(info ? info->client_addr : NULL,
                  MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "X-Forwarded-For"), ret);
}

/* Reads the token and makes its SHA-256. */
static bool find_token(struct MHD_Connection *connection, char ret[65])
{
        const char *text = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");

        if (!text || strncasecmp(text, "Bearer ", 7) != 0)
                return false;
        text += 7 + strspn(text + 7, " ");
        if (strlen(text) != TOKEN_DIGITS || strspn(text, "0123456789abcdefABCDEF") != TOKEN_DIGITS)
                return false;
        name_hash_digits(text, ret);
        return true;
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, struct answer *answer)
{
        static char no_memory[] = "{\"error\":\"there is no memory now\"}";
        bool have = answer->body != NULL;
        struct MHD_Response *response = MHD_create_response_from_buffer(strlen(have ? answer->body : no_memory),
                have ? answer->body : no_memory, have ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
        char retry[24];
        enum MHD_Result result;

        if (!response) {
                free(answer->body);
                return MHD_NO;
        }
        (void)MHD_add_response_header(response, "Content-Type", have && answer->type ? answer->type :
                                      "application/json");
        (void)MHD_add_response_header(response, "Cache-Control", "no-store");
        if (answer->retry_s) {
                snprintf(retry, sizeof(retry), "%d", answer->retry_s);
                (void)MHD_add_response_header(response, "Retry-After", retry);
        }
        result = MHD_queue_response(connection, have ? (unsigned)answer->status : 503, response);
        MHD_destroy_response(response);
        return result;
}

static bool ends_with(const char *text, const char *end)
{
        size_t length = strlen(text), n = strlen(end);

        return length >= n && strcmp(text + length - n, end) == 0;
}

static bool known_encoding(struct MHD_Connection *connection)
{
        const char *encoding = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Encoding");

        return !encoding || strcasecmp(encoding, "gzip") == 0 || strcasecmp(encoding, "identity") == 0;
}

static void answer_post(struct server *server, struct MHD_Connection *connection, const struct request *request,
                        const char *token,
                        struct answer *ret)
{
        struct peer peer;

        if (!known_encoding(connection)) {
                answer_error(ret, 415, "Content-Encoding is gzip, or there is none");
                return;
        }
        if (request->too_large) {
                answer_error(ret, 413, "an upload has at most 256 KiB; send more in the next");
                return;
        }
        find_peer(connection, &peer);
        receive_upload(&server->receiver, token, peer.network, !peer.local, request->body ? request->body : "",
                       request->length, ret);
}

static void answer_profile(struct server *server, struct MHD_Connection *connection, const struct request *request,
                           const char *token, struct answer *ret)
{
        _cleanup_free_ char *text = NULL;

        if (!server->profiles)
                answer_error(ret, 404, "this server keeps no profiles");
        else if (request->too_large || request->length == 0)
                answer_error(ret, request->length ? 413 : 400, "a profile has at most 256 KiB, and is not empty");
        else if (MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Encoding"))
                answer_error(ret, 415, "a profile comes plain");
        else if (!(text = strndup(request->body, request->length)))
                answer_unavailable(ret);
        else
                me_answer(server, ME_PROFILE, token, text, ret);
}

enum path {
        PATH_SAMPLES,
        PATH_PROFILE,
        PATH_REPORT,
        PATH_ME,
        PATH_POOL,
        PATHS,
};

static enum path find_path(const char *url)
{
        static const char *const ends[] = { [PATH_SAMPLES] = "/v1/samples", [PATH_PROFILE] = "/v1/profile",
                                            [PATH_REPORT] = "/v1/report", [PATH_ME] = "/v1/me" };

        for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
                if (ends_with(url, ends[i]))
                        return (enum path)i;
        return strstr(url, "/v1/pools/") ? PATH_POOL : PATHS;
}

static bool allowed(enum path path, const char *method)
{
        bool post = path == PATH_SAMPLES || path == PATH_PROFILE;

        return strcmp(method, post ? "POST" : "GET") == 0 || (path == PATH_ME && strcmp(method, "DELETE") == 0);
}

static void answer_request(struct server *server, struct MHD_Connection *connection, const char *url,
                           const char *method, const struct request *request, struct answer *ret)
{
        enum path path = find_path(url);
        char token[65];

        if (path == PATHS)
                answer_error(ret, 404, "there are /v1/samples, /v1/profile, /v1/report, /v1/me and /v1/pools/NAME");
        else if (!allowed(path, method))
                answer_error(ret, 405, "POST /v1/samples and /v1/profile, GET /v1/report and /v1/pools/NAME, and GET or"
                                       " DELETE /v1/me are what there is");
        else if (!find_token(connection, token))
                answer_error(ret, 401, "a request needs Authorization: Bearer and a token of 64 hexadecimal digits");
        else if (path == PATH_SAMPLES)
                answer_post(server, connection, request, token, ret);
        else if (path == PATH_PROFILE)
                answer_profile(server, connection, request, token, ret);
        else if (path == PATH_POOL)
                profile_pool(server->profiles, strstr(url, "/v1/pools/") + strlen("/v1/pools/"), ret);
        else
                me_answer(server, path == PATH_REPORT ? ME_REPORT : *method == 'D' ? ME_DELETE : ME_GET, token, NULL,
                          ret);
}

static void take_body(struct request *request, const char *data, size_t size)
{
        if (request->too_large || request->length + size > RECEIVE_BYTES_MAX ||
            util_grow(&request->body, &request->capacity, request->length + size, 1) < 0) {
                request->too_large = true;
                return;
        }
        memcpy(request->body + request->length, data, size);
        request->length += size;
}

/* Headers that say how long the body of a request is. */
struct lengths {
        unsigned n;
        bool unknown; /* an encoding that nobody here decodes */
};

static enum MHD_Result count_lengths(void *data, enum MHD_ValueKind kind, const char *key, const char *value)
{
        struct lengths *lengths = data;
        bool encoding = strcasecmp(key, "Transfer-Encoding") == 0;

        lengths->n += encoding || strcasecmp(key, "Content-Length") == 0;
        lengths->unknown |= encoding && (!value || strcasecmp(value, "chunked") != 0);
        return MHD_YES;
}

/*
 * A proxy may take another of several lengths than this server, and then the rest of a body for the next request, of
 * somebody else.
 */
static bool has_one_length(struct MHD_Connection *connection)
{
        struct lengths lengths = { .n = 0 };

        (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, count_lengths, &lengths);
        return lengths.n <= 1 && !lengths.unknown;
}

/* Limits of a network come before all else, so that whoever sends nonsense costs no more than an answer. */
static enum MHD_Result begin_request(struct server *server, struct MHD_Connection *connection, void **request_data)
{
        struct answer answer = { .status = 0 };
        struct peer peer;

        find_peer(connection, &peer);
        if (!peer.local && !limits_take(server->receiver.limits, "network", peer.network, RECEIVE_NETWORK_HOUR)) {
                answer_error(&answer, 429, "too many requests come from this network; try again in an hour");
                answer.retry_s = 3600;
        } else if (!has_one_length(connection)) {
                answer_error(&answer, 400, "a request has one Content-Length, or Transfer-Encoding: chunked");
        } else {
                *request_data = calloc(1, sizeof(struct request));
                return *request_data ? MHD_YES : MHD_NO;
        }
        return send_answer(connection, &answer);
}

static struct connection *own_connection(struct MHD_Connection *connection)
{
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

        return info ? info->socket_context : NULL;
}

/* A connection begins or ends. libmicrohttpd closes its socket after this. */
static void notified(void *data, struct MHD_Connection *connection, void **own,
                     enum MHD_ConnectionNotificationCode code)
{
        struct server *server = data;
        const union MHD_ConnectionInfo *fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD),
                                       *address = MHD_get_connection_info(connection,
                                                                          MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        struct peer peer;

        if (code == MHD_CONNECTION_NOTIFY_CLOSED && *own) {
                connections_remove(&server->connections, *own);
                *own = NULL;
        } else if (code == MHD_CONNECTION_NOTIFY_STARTED && fd) {
                peer_find(address ? address->client_addr : NULL, NULL, &peer);
                *own = connections_add(&server->connections, fd->connect_fd, &peer);
        }
}

static enum MHD_Result handle(void *data, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version,
                              const char *upload_data, size_t *upload_size, void **request_data)
{
        struct request *request = *request_data;
        struct answer answer = { .status = 0 };

        if (!request)
                return begin_request(data, connection, request_data);
        if (*upload_size) {
                take_body(request, upload_data, *upload_size);
                *upload_size = 0;
                return MHD_YES;
        }
        connections_answering(&((struct server *)data)->connections, own_connection(connection), true);
        answer_request(data, connection, url, method, request, &answer);
        connections_answering(&((struct server *)data)->connections, own_connection(connection), false);
        return send_answer(connection, &answer);
}

static void completed(void *data, struct MHD_Connection *connection, void **request_data,
                      enum MHD_RequestTerminationCode code)
{
        struct request *request = *request_data;

        connections_answering(&((struct server *)data)->connections, own_connection(connection), false);
        if (request)
                free(request->body);
        free(request);
        *request_data = NULL;
}

/* Is this ":PORT"? getaddrinfo() would take 65537 for 1. */
static bool is_port(const char *text)
{
        size_t digits = text ? strspn(text + 1, "0123456789") : 0;

        return digits > 0 && digits <= 5 && !text[1 + digits] && strtoul(text + 1, NULL, 10) <= UINT16_MAX;
}

/* Parses ADDR:PORT, [ADDR]:PORT or :PORT. */
static int find_address(const char *text, struct addrinfo **ret, const struct log *log)
{
        _cleanup_free_ char *host = strdup(text);
        const struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
        char *colon = host ? strrchr(host, ':') : NULL, *name = host;
        int code;

        if (!host)
                return -ENOMEM;
        if (!is_port(colon)) {
                log_error(log, "serve: --listen takes ADDRESS:PORT, as in 127.0.0.1:8451 or [::1]:8451");
                return -EINVAL;
        }
        *colon = '\0';
        if (*name == '[' && colon > name + 1 && colon[-1] == ']') {
                name++;
                colon[-1] = '\0';
        }
        code = getaddrinfo(*name ? name : NULL, colon + 1, &hints, ret);
        if (code == 0)
                return 0;
        log_error(log, "serve: --listen %s: %s", text, gai_strerror(code));
        return -EINVAL;
}

int http_start(struct server *server, const char *address, unsigned threads, struct MHD_Daemon **ret)
{
        struct addrinfo *found;
        const union MHD_DaemonInfo *info;
        unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD;
        int err = find_address(address, &found, server->log);

        if (err < 0)
                return err;
        if (found->ai_family == AF_INET6)
                flags |= MHD_USE_IPv6;
        *ret = MHD_start_daemon(flags, 0, NULL, NULL, handle, server, MHD_OPTION_SOCK_ADDR, found->ai_addr,
                                MHD_OPTION_THREAD_POOL_SIZE, threads, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S,
                                MHD_OPTION_CONNECTION_LIMIT, DAEMON_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                (size_t)CONNECTION_BYTES, MHD_OPTION_NOTIFY_COMPLETED, completed, server,
                                MHD_OPTION_NOTIFY_CONNECTION, notified, server, MHD_OPTION_END);
        freeaddrinfo(found);
        if (!*ret) {
                log_error(server->log, "serve: cannot listen at %s: %s", address, strerror(errno));
                return -EIO;
        }
        info = MHD_get_daemon_info(*ret, MHD_DAEMON_INFO_BIND_PORT);
        if (info)
                log_info(server->log, "serve: listening at %s, port %u", address, info->port);
        return 0;
}

void http_stop(struct MHD_Daemon *daemon)
{
        MHD_stop_daemon(daemon);
}
