/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "place-server.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>

#include "answer/values.h"
#include "reply.h"
#include "shared/card.h"
#include "util/util.h"
#include "util/words.h"

#define CONNECT_S 15L
#define WHOLE_S 60L

/* A request and its response. */
struct exchange {
        const struct member *member;
        const char *method, *path;
        const struct compose_upload *upload; /* NULL: no body, or @card */
        const char *card;                    /* NULL: no body, or @upload */
        char *text;
        size_t length, capacity;
        bool too_long;
        long status;
};

/* Without TLS the token would be readable, so only this machine is allowed then. */
int server_check(const char *where, const struct log *log, char **ret)
{
        CURLU *url = curl_url();
        char *scheme = NULL, *host = NULL, *query = NULL, *user = NULL;
        size_t length = strlen(where);
        bool local, fine;

        while (length && where[length - 1] == '/')
                length--;
        fine = url && length < MEMBER_WHERE_MAX && curl_url_set(url, CURLUPART_URL, where, 0) == CURLUE_OK &&
               curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
               curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
               curl_url_get(url, CURLUPART_QUERY, &query, 0) == CURLUE_NO_QUERY &&
               curl_url_get(url, CURLUPART_USER, &user, 0) == CURLUE_NO_USER;
        local = host && (strcmp(host, "127.0.0.1") == 0 || strcmp(host, "[::1]") == 0 ||
                         strcmp(host, "localhost") == 0);
        fine = fine && (strcmp(scheme, "https") == 0 || (strcmp(scheme, "http") == 0 && local));
        curl_free(scheme);
        curl_free(host);
        curl_free(query);
        curl_free(user);
        curl_url_cleanup(url);
        if (!fine) {
                log_error(log, "a server has a URL like https://example.org/community, without ? and user; http://"
                               " only on this"
                          " machine");
                return -EINVAL;
        }
        *ret = strndup(where, length);
        return *ret ? 0 : -ENOMEM;
}

static size_t take_bytes(char *bytes, size_t size, size_t n, void *data)
{
        struct exchange *exchange = data;

        if (exchange->length + n >= REPLY_MAX || memchr(bytes, '\0', n))
                exchange->too_long = true;
        if (exchange->too_long || util_grow(&exchange->text, &exchange->capacity, exchange->length + n + 1, 1) < 0)
                return 0;
        memcpy(exchange->text + exchange->length, bytes, n);
        exchange->length += n;
        exchange->text[exchange->length] = '\0';
        return n;
}

static struct curl_slist *add_header(struct curl_slist *list, const char *line, bool *fine)
{
        struct curl_slist *longer = curl_slist_append(list, line);

        *fine = *fine && longer;
        return longer ? longer : list;
}

static CURLcode perform(CURL *curl, struct exchange *exchange, const char *url, char *error)
{
        struct curl_slist *headers = NULL;
        char token[MEMBER_TOKEN_DIGITS + 32];
        bool fine = true;
        CURLcode code;

        snprintf(token, sizeof(token), "Authorization: Bearer %s", exchange->member->token);
        headers = add_header(headers, token, &fine);
        headers = add_header(headers, "Expect:", &fine);
        if (exchange->upload) {
                headers = add_header(headers, "Content-Type: application/x-ndjson", &fine);
                headers = add_header(headers, "Content-Encoding: gzip", &fine);
                curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)exchange->upload->packed_length);
                curl_easy_setopt(curl, CURLOPT_POSTFIELDS, exchange->upload->packed);
        }
        if (exchange->card) {
                headers = add_header(headers, "Content-Type: text/plain", &fine);
                curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(exchange->card));
                curl_easy_setopt(curl, CURLOPT_POSTFIELDS, exchange->card);
        }
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, exchange->method);
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(curl, CURLOPT_URL, url);
        curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(curl, CURLOPT_USERAGENT, ""); /* the version would reveal more than necessary */
        curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
        curl_easy_setopt(curl, CURLOPT_TIMEOUT, WHOLE_S);
        curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
        code = fine ? curl_easy_perform(curl) : CURLE_OUT_OF_MEMORY;
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &exchange->status);
        curl_slist_free_all(headers);
        return code;
}

/* Returns 0 if a complete response of any kind arrived; or a negative errno after a sentence. */
static int talk(struct exchange *exchange, const struct log *log)
{
        char error[CURL_ERROR_SIZE] = "", url[MEMBER_WHERE_MAX + CARD_FILE_SIZE + 32], printable[256];
        CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
        CURL *curl = code == CURLE_OK ? curl_easy_init() : NULL;

        if (!curl)
                return -ENOMEM;
        snprintf(url, sizeof(url), "%s%s", exchange->member->where, exchange->path);
        code = perform(curl, exchange, url, error);
        curl_easy_cleanup(curl);
        if (code == CURLE_OUT_OF_MEMORY)
                return -ENOMEM;
        if (exchange->too_long) {
                log_error(log, "%s answers with more than 8 MB, or with no text", exchange->member->where);
                return -EBADMSG;
        }
        if (code != CURLE_OK) {
                log_error(log, "%s cannot be reached: %s; waiting samples are kept", exchange->member->where,
                          util_printable(*error ? error : curl_easy_strerror(code), printable, sizeof(printable)));
                return -EAGAIN;
        }
        return 0;
}

/* The status and its sentence. */
static void print_refusal(const struct exchange *exchange, char buf[MEMBER_REFUSED_MAX])
{
        char sentence[256];

        reply_error(exchange->text ? exchange->text : "", sentence, sizeof(sentence));
        snprintf(buf, MEMBER_REFUSED_MAX, "%ld%s%s", exchange->status, *sentence ? ": " : "", sentence);
}

static int refused(const struct exchange *exchange, const struct log *log)
{
        char refusal[MEMBER_REFUSED_MAX];

        print_refusal(exchange, refusal);
        log_error(log, "%s answers %s", exchange->member->where, refusal);
        return exchange->status == 429 || exchange->status >= 500 ? -EAGAIN : -EPROTO;
}

/* For `community status`. */
static void keep_refusal(const struct exchange *exchange, struct member *member)
{
        print_refusal(exchange, member->refused);
        member->refused_ns = values_now_ns();
}

static int not_understood(const struct exchange *exchange, const struct log *log, int err)
{
        if (err == -EBADMSG)
                log_error(log, "%s does not answer like joulecast-community; is the URL right?",
                          exchange->member->where);
        return err;
}

int server_send(struct member *member, const struct compose_upload *upload, const struct log *log,
                struct place_receipt *ret)
{
        struct exchange exchange = { .member = member, .method = "POST", .path = "/v1/samples", .upload = upload };
        int err = talk(&exchange, log);

        if (!err && exchange.status != 200) {
                err = refused(&exchange, log);
                keep_refusal(&exchange, member);
        } else if (!err) {
                err = not_understood(&exchange, log, reply_to_upload(exchange.text ? exchange.text : "", member, ret));
        }
        free(exchange.text);
        return err;
}

/* Is it a 404 of this kind of server, and not of another one without such a path? */
static bool is_nothing_kept(const struct exchange *exchange)
{
        char sentence[256];

        reply_error(exchange->text ? exchange->text : "", sentence, sizeof(sentence));
        return exchange->status == 404 && *sentence;
}

int server_forget(const struct member *member, const struct log *log, struct place_forgotten *ret)
{
        struct exchange exchange = { .member = member, .method = "DELETE", .path = "/v1/me" };
        int err = talk(&exchange, log);

        if (!err && is_nothing_kept(&exchange))
                *ret = (struct place_forgotten){ .confirmed = true };
        else if (!err && exchange.status != 200)
                err = refused(&exchange, log);
        else if (!err)
                err = not_understood(&exchange, log, reply_to_forget(exchange.text ? exchange.text : "", member, ret));
        free(exchange.text);
        return err;
}

int server_report(const struct member *member, const struct log *log, char **ret)
{
        struct exchange exchange = { .member = member, .method = "GET", .path = "/v1/report" };
        int err = talk(&exchange, log);

        if (!err && (exchange.status == 404 || exchange.status == 503))
                err = -ENODATA;
        else if (!err && exchange.status != 200)
                err = refused(&exchange, log);
        else if (!err && !exchange.text)
                err = not_understood(&exchange, log, -EBADMSG);
        if (!err)
                *ret = TAKE_PTR(exchange.text);
        free(exchange.text);
        return err;
}

int server_send_card(const struct member *member, const char *text, const struct log *log)
{
        struct exchange exchange = { .member = member, .method = "POST", .path = "/v1/profile", .card = text };
        int err = talk(&exchange, log);

        if (!err && exchange.status != 200)
                err = refused(&exchange, log);
        free(exchange.text);
        return err;
}

int server_pool(const struct member *member, const char *file, const struct log *log, char **ret)
{
        char path[CARD_FILE_SIZE + 16];
        struct exchange exchange = { .member = member, .method = "GET", .path = path };
        int err;

        snprintf(path, sizeof(path), "/v1/pools/%s", file);
        err = talk(&exchange, log);
        if (!err && is_nothing_kept(&exchange))
                err = -ENODATA;
        else if (!err && exchange.status != 200)
                err = refused(&exchange, log);
        else if (!err && (!exchange.text || exchange.length > POOL_BYTES_MAX))
                err = not_understood(&exchange, log, -EBADMSG);
        if (!err)
                *ret = TAKE_PTR(exchange.text);
        free(exchange.text);
        return err;
}
