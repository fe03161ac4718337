/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic-load.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "hold/program.h"
#include "util/units.h"
#include "util/util.h"

#define PORT_DEFAULT 5201
#define RATE_MIN 1000.0    /* the range that joulecast-traffic takes */
#define RATE_MAX 1e9
#define TURN_S 2.0         /* so that both directions occur in a dwell of seconds */
#define ALONE_S 600.0
#define FAILURES_MAX 4
#define RETRY_S 2.0
#define STOP_MS 5000       /* it answers a stop at once */
#define ANSWER_MAX 512
#define WAKE_SMALL_BYTES 64 /* size of a datagram, as in joulecast-traffic */
#define WAKE_LARGE_BYTES 1200 /* the requested size: with headers it also fits into a tunnel */
#define WAKE_HEADER_BYTES 48
#define URL_PACKETS 10 /* about, of a burst with an answer */

enum kind {
        KIND_RECEIVE,
        KIND_TRANSMIT,
        KIND_WAKE,
        KIND_COUNT,
};

static const char *const kind_names[KIND_COUNT] = { "receive", "transmit", "wake" };

struct traffic_load {
        struct traffic_where where;
        char host[256];         /* host of the peer */
        uint16_t port;
        const struct log *log;
        struct program program;
        double rates[KIND_COUNT]; /* 0: not asked for */
        uint32_t wake_packets;
        bool large_packets;
        double wake_bytes_per_s, left_bytes;
        enum kind turn;         /* runs now, or ran last */
        bool asked;             /* a request is not answered yet */
        unsigned failures;      /* in a row */
        uint64_t retry_ns;      /* not before */
};

/* "HOST", "HOST:PORT", "[ADDRESS]:PORT"; an address with several colons has no port. */
static int traffic_parse_peer(const char *text, char *host, size_t size, uint16_t *port)
{
        const char *colon = strrchr(text, ':'), *begin = text, *end = text + strlen(text);
        uint64_t number = PORT_DEFAULT;

        if (*text == '[') {
                const char *close = strchr(text, ']');

                if (!close || (close[1] && close[1] != ':'))
                        return -EINVAL;
                begin = text + 1;
                end = close;
                colon = close[1] ? close + 1 : NULL;
        } else if (colon && strchr(text, ':') == colon) {
                end = colon;
        } else {
                colon = NULL;
        }
        if (colon && (util_parse_u64(colon + 1, &number) < 0 || number < 1 || number > 65535))
                return -EINVAL;
        if (end == begin || (size_t)(end - begin) >= size)
                return -EINVAL;
        memcpy(host, begin, (size_t)(end - begin));
        host[end - begin] = '\0';
        *port = (uint16_t)number;
        return 0;
}

/* ---- the child ---- */

static int spawn(struct traffic_load *load)
{
        const char *program = load->where.program ? load->where.program : "joulecast-traffic";
        char *const arguments[] = { (char *)program, NULL };

        return program_start(arguments, &load->program);
}

static bool is_running(const struct traffic_load *load)
{
        return load->program.pid > 0;
}

static int send_line(struct traffic_load *load, cJSON *json)
{
        _cleanup_free_ char *text = cJSON_PrintUnformatted(json);

        cJSON_Delete(json);
        return text ? program_say(&load->program, text) : -ENOMEM;
}

/* ---- requests ---- */

static void add_where(const struct traffic_load *load, enum kind kind, cJSON *request)
{
        if (load->where.url && (kind == KIND_RECEIVE || (kind == KIND_WAKE && !load->wake_packets))) {
                cJSON_AddStringToObject(request, "url", load->where.url);
        } else {
                cJSON_AddStringToObject(request, "peer", load->host);
                cJSON_AddNumberToObject(request, "port", load->port);
        }
        cJSON_AddStringToObject(request, "interface", load->where.interface);
}

/* Length of a turn within the bytes that are left. */
static double turn_seconds(const struct traffic_load *load, double bytes_per_s, size_t n_kinds)
{
        double seconds = n_kinds > 1 ? TURN_S : ALONE_S;

        return bytes_per_s > 0 ? fmin(seconds, floor(load->left_bytes / bytes_per_s)) : seconds;
}

static size_t count_kinds(const struct traffic_load *load)
{
        size_t n = 0;

        for (size_t kind = 0; kind < KIND_COUNT; kind++)
                n += load->rates[kind] > 0;
        return n;
}

static int ask(struct traffic_load *load, enum kind kind)
{
        cJSON *line = cJSON_CreateObject(), *request = cJSON_AddObjectToObject(line, kind_names[kind]);
        size_t n = count_kinds(load);
        double rate = fmin(fmax(round(load->rates[kind] * (double)n), RATE_MIN), RATE_MAX);
        double seconds = turn_seconds(load, kind == KIND_WAKE ? load->wake_bytes_per_s : rate, n);
        int err;

        if (seconds < 1) {
                cJSON_Delete(line);
                return -EDQUOT;
        }
        add_where(load, kind, request);
        cJSON_AddNumberToObject(request, "seconds", seconds);
        if (kind == KIND_WAKE)
                cJSON_AddNumberToObject(request, "silence_s", 1 / load->rates[kind]);
        else
                cJSON_AddNumberToObject(request, "bytes_per_s", rate);
        if (kind == KIND_WAKE && load->wake_packets > 1)
                cJSON_AddNumberToObject(request, "packets", load->wake_packets);
        if (kind == KIND_WAKE && load->wake_packets && load->large_packets)
                cJSON_AddNumberToObject(request, "packet_bytes", WAKE_LARGE_BYTES);
        err = send_line(load, line);
        load->turn = kind;
        load->asked = !err;
        return err;
}

static int ask_next(struct traffic_load *load)
{
        for (size_t i = 1; i <= KIND_COUNT; i++) {
                enum kind kind = (load->turn + i) % KIND_COUNT;

                if (load->rates[kind] > 0)
                        return ask(load, kind);
        }
        return 0;
}

static double member(const cJSON *json, const char *name)
{
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);

        return cJSON_IsNumber(item) && item->valuedouble > 0 ? item->valuedouble : 0;
}

/* The last failure in a row ends the load; logged. */
static int fail(struct traffic_load *load, const char *error)
{
        char printable[256];

        load->retry_ns = util_clock_ns(CLOCK_MONOTONIC) + (uint64_t)(RETRY_S * (double)NS_PER_S);
        if (++load->failures < FAILURES_MAX)
                return 0;
        log_warning(load->log, "%s: no traffic: %s", load->where.interface,
                    util_printable(error, printable, sizeof(printable)));
        memset(load->rates, 0, sizeof(load->rates));
        return -EIO;
}

static int take_answer(struct traffic_load *load, const char *line)
{
        cJSON *json = cJSON_Parse(line);
        const char *error = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "error"));
        int err = 0;

        load->asked = false;
        load->left_bytes -= member(json, "rx_bytes") + member(json, "tx_bytes");
        if (!json)
                err = fail(load, "joulecast-traffic gave an invalid answer");
        else if (error)
                err = fail(load, error);
        else
                load->failures = 0;
        cJSON_Delete(json);
        return err;
}

int traffic_load_tend(struct traffic_load *load)
{
        char line[ANSWER_MAX];
        int err = 0;

        if (!is_running(load) || count_kinds(load) == 0)
                return 0;
        if (load->asked) {
                err = program_hear(&load->program, 0, line, sizeof(line));
                if (err == -ETIMEDOUT)
                        return 0;
                err = err ? err : take_answer(load, line);
        }
        if (!err && !load->asked && util_clock_ns(CLOCK_MONOTONIC) >= load->retry_ns)
                err = ask_next(load);
        if (err == -EPIPE) {
                load->failures = FAILURES_MAX;
                err = fail(load, "joulecast-traffic has ended");
        }
        if (err)
                memset(load->rates, 0, sizeof(load->rates));
        return err;
}

/* Waits for the answer of the request, which counts its bytes, and for that of the stop. */
static int stop_asked(struct traffic_load *load)
{
        char line[ANSWER_MAX];
        cJSON *stop;
        int err;

        if (!load->asked)
                return 0;
        stop = cJSON_CreateObject();
        cJSON_AddBoolToObject(stop, "stop", true);
        err = send_line(load, stop);
        for (;;) {
                if (!err)
                        err = program_hear(&load->program, STOP_MS, line, sizeof(line));
                if (err)
                        return err;
                if (strstr(line, "\"done\":\"stop\""))
                        break;
                take_answer(load, line);
        }
        load->asked = false;
        return 0;
}

double traffic_wake_bytes_per_s(const struct traffic_job *job)
{
        double packets = job->wake_packets ? job->wake_packets : URL_PACKETS;

        return job->wakes_per_s * packets *
               (WAKE_HEADER_BYTES + (job->large_packets ? WAKE_LARGE_BYTES : WAKE_SMALL_BYTES));
}

int traffic_load_set(struct traffic_load *load, const struct traffic_job *job, double most_bytes)
{
        bool any = job->rx_bytes_per_s > 0 || job->tx_bytes_per_s > 0 || job->wakes_per_s > 0;
        int err = is_running(load) ? stop_asked(load) : 0;

        memset(load->rates, 0, sizeof(load->rates));
        if (err)
                program_end(&load->program); /* started again when there is work */
        if (!any)
                return 0;
        err = is_running(load) ? 0 : spawn(load);
        if (err)
                return err;
        load->rates[KIND_RECEIVE] = load->where.url || load->host[0] ? job->rx_bytes_per_s : 0;
        load->rates[KIND_TRANSMIT] = load->host[0] ? job->tx_bytes_per_s : 0;
        load->rates[KIND_WAKE] = job->wakes_per_s;
        load->wake_packets = job->wake_packets;
        load->large_packets = job->large_packets;
        load->wake_bytes_per_s = traffic_wake_bytes_per_s(job);
        load->left_bytes = most_bytes;
        load->asked = false;
        load->failures = 0;
        load->retry_ns = 0;
        load->turn = KIND_WAKE; /* so that the first kind is next */
        return traffic_load_tend(load);
}

int traffic_load_open(const struct traffic_where *where, const struct log *log, struct traffic_load **ret)
{
        struct traffic_load *load = calloc(1, sizeof(*load));
        int err = 0;

        if (!load)
                return -ENOMEM;
        load->where = *where;
        load->log = log;
        load->program = (struct program){ .to_fd = -1, .from_fd = -1 };
        if (where->peer)
                err = traffic_parse_peer(where->peer, load->host, sizeof(load->host), &load->port);
        if (err) {
                free(load);
                return err;
        }
        *ret = load;
        return 0;
}

void traffic_load_close(struct traffic_load *load)
{
        if (!load)
                return;
        program_end(&load->program);
        free(load);
}
