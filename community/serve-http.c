/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The border to libmicrohttpd. docs/community.md has the protocol. */

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <string.h>

#include "community/name-hash.h"
#include "serve.h"
#include "util/util.h"

#define IDLE_S 30
#define CONNECTIONS_MAX 1000
#define TOKEN_DIGITS 64

/* A request, from its first line to its answer. */
struct request {
        char *body;
        size_t length, capacity;
        bool too_large;
};

/* The network of a peer: 24 bits of an IPv4 address, 48 of an IPv6 address. */
static void network_of(const struct sockaddr *address, char *buf, size_t size)
{
        if (address && address->sa_family == AF_INET) {
                uint32_t host = ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr);

                snprintf(buf, size, "%u.%u.%u", host >> 24, host >> 16 & 255, host >> 8 & 255);
        } else if (address && address->sa_family == AF_INET6) {
                const unsigned char *bytes = ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr;

                snprintf(buf, size, "%02x%02x:%02x%02x:%02x%02x", bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]);
        } else {
                snprintf(buf, size, "unknown");
        }
}

static bool is_local(const struct sockaddr *address)
{
        if (address && address->sa_family == AF_INET)
                return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
        return address && address->sa_family == AF_INET6 &&
               IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/* What a proxy on this host says last; nobody else is asked. */
static void find_network(struct MHD_Connection *connection, char *buf, size_t size)
{
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        const struct sockaddr *address = info ? info->client_addr : NULL;
        const char *forwarded = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "X-Forwarded-For");
        struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
        struct sockaddr_in four = { .sin_family = AF_INET };

        if (forwarded && is_local(address)) {
                const char *comma = strrchr(forwarded, ','), *last = comma ? comma + 1 : forwarded;

                last += strspn(last, " ");
                if (inet_pton(AF_INET, last, &four.sin_addr) == 1)
                        address = (const struct sockaddr *)&four;
                else if (inet_pton(AF_INET6, last, &six.sin6_addr) == 1)
                        address = (const struct sockaddr *)&six;
        }
        network_of(address, buf, size);
}

/* The SHA-256 of the token. */
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
        (void)MHD_add_response_header(response, "Content-Type", have && answer->type ? answer->type : "application/json");
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
        char network[64];

        if (!known_encoding(connection)) {
                answer_error(ret, 415, "Content-Encoding is gzip, or there is none");
                return;
        }
        if (request->too_large) {
                answer_error(ret, 413, "an upload has at most 256 KiB; send more in the next");
                return;
        }
        find_network(connection, network, sizeof(network));
        receive_upload(&server->receiver, token, network, request->body ? request->body : "", request->length, ret);
}

/* One row for each request that there is. */
static void answer_request(struct server *server, struct MHD_Connection *connection, const char *url, const char *method,
                           const struct request *request, struct answer *ret)
{
        const char *path = ends_with(url, "/v1/samples") ? "samples" : ends_with(url, "/v1/report") ? "report" :
                           ends_with(url, "/v1/me") ? "me" : NULL;
        bool post = strcmp(method, "POST") == 0, get = strcmp(method, "GET") == 0, delete = strcmp(method, "DELETE") == 0;
        char token[65];

        if (!path)
                answer_error(ret, 404, "there are /v1/samples, /v1/report and /v1/me");
        else if (!(*path == 's' ? post : *path == 'r' ? get : get || delete))
                answer_error(ret, 405, "POST /v1/samples, GET /v1/report, and GET or DELETE /v1/me are what there is");
        else if (!find_token(connection, token))
                answer_error(ret, 401, "a request needs Authorization: Bearer and a token of 64 hexadecimal digits");
        else if (post)
                answer_post(server, connection, request, token, ret);
        else
                me_answer(server, *path == 'r' ? ME_REPORT : delete ? ME_DELETE : ME_GET, token, ret);
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

static enum MHD_Result handle(void *data, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version,
                              const char *upload_data, size_t *upload_size, void **request_data)
{
        struct request *request = *request_data;
        struct answer answer = { .status = 0 };

        if (!request) {
                *request_data = calloc(1, sizeof(*request));
                return *request_data ? MHD_YES : MHD_NO;
        }
        if (*upload_size) {
                take_body(request, upload_data, *upload_size);
                *upload_size = 0;
                return MHD_YES;
        }
        answer_request(data, connection, url, method, request, &answer);
        return send_answer(connection, &answer);
}

static void completed(void *data, struct MHD_Connection *connection, void **request_data, enum MHD_RequestTerminationCode code)
{
        struct request *request = *request_data;

        if (request)
                free(request->body);
        free(request);
        *request_data = NULL;
}

/* ":PORT"? getaddrinfo() would take 65537 for 1. */
static bool is_port(const char *text)
{
        size_t digits = text ? strspn(text + 1, "0123456789") : 0;

        return digits > 0 && digits <= 5 && !text[1 + digits] && strtoul(text + 1, NULL, 10) <= UINT16_MAX;
}

/* ADDR:PORT, [ADDR]:PORT or :PORT. */
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
                                MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_NOTIFY_COMPLETED, completed, NULL,
                                MHD_OPTION_END);
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
