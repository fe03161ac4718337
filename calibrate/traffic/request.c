/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "request.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "util/util.h"

const char *const request_names[] = {
        [REQUEST_RECEIVE] = "receive",
        [REQUEST_TRANSMIT] = "transmit",
        [REQUEST_WAKE] = "wake",
        [REQUEST_STOP] = "stop",
};

#define WAKE_PACKETS_PER_S 1000

/* Integers in a double are exact up to this. */
#define EXACT_MAX 9007199254740992.0

struct number {
        const char *name;
        unsigned kinds; /* 1 << enum request_kind */
        double min, max;
        bool whole;
        size_t offset; /* in struct request */
        enum { AS_U16, AS_U32, AS_U64, AS_DOUBLE } type;
};

#define TRANSFER (1u << REQUEST_RECEIVE | 1u << REQUEST_TRANSMIT)
#define ANY (TRANSFER | 1u << REQUEST_WAKE)

/* Everything has a limit, so that a faulty caller cannot flood a network or run forever. */
static const struct number numbers[] = {
        { "port", ANY, 1, 65535, true, offsetof(struct request, port), AS_U16 },
        { "bytes_per_s", TRANSFER, 1000, 1e9, true, offsetof(struct request, bytes_per_s), AS_U64 },
        { "bytes", TRANSFER, 1, EXACT_MAX, true, offsetof(struct request, bytes), AS_U64 },
        { "bursts", 1u << REQUEST_WAKE, 1, 100000, true, offsetof(struct request, bursts), AS_U32 },
        { "silence_s", 1u << REQUEST_WAKE, 0.005, 3600, false, offsetof(struct request, silence_s),
          AS_DOUBLE },
        { "packets", 1u << REQUEST_WAKE, 1, 1000, true, offsetof(struct request, packets), AS_U32 },
        { "packet_bytes", 1u << REQUEST_WAKE, 1, WAKE_PACKET_BYTES_MAX, true,
          offsetof(struct request, packet_bytes), AS_U32 },
        { "seconds", ANY, 0.1, 86400, false, offsetof(struct request, seconds), AS_DOUBLE },
};

__attribute__((format(printf, 3, 4))) static int complain(char *error, size_t size, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(error, size, format, arguments);
        va_end(arguments);
        return -EINVAL;
}

static void store_number(struct request *request, const struct number *number, double value)
{
        void *field = (char *)request + number->offset;

        switch (number->type) {
        case AS_U16:
                *(uint16_t *)field = (uint16_t)value;
                break;
        case AS_U32:
                *(uint32_t *)field = (uint32_t)value;
                break;
        case AS_U64:
                *(uint64_t *)field = (uint64_t)value;
                break;
        case AS_DOUBLE:
                *(double *)field = value;
                break;
        }
}

static int parse_number(const cJSON *json, struct request *request, char *error, size_t size)
{
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
                const struct number *number = &numbers[i];
                double value = json->valuedouble;

                if (strcmp(json->string, number->name) != 0 || !(number->kinds & 1u << request->kind))
                        continue;
                if (!cJSON_IsNumber(json) || !(value >= number->min && value <= number->max) ||
                    (number->whole && value != floor(value)))
                        return complain(error, size, "%s must be a%s number from %.15g to %.15g",
                                        number->name, number->whole ? " whole" : "", number->min,
                                        number->max);
                store_number(request, number, value);
                return 0;
        }
        return complain(error, size, "%s takes no member \"%.40s\"", request_names[request->kind],
                        json->string);
}

/* A host name or address, without characters that a resolver, a log or an option parser could misread. */
static bool is_host(const char *text)
{
        return *text && !strchr(".-_%", *text) && util_only_has(text, ".-_:%");
}

static bool is_url(const char *text)
{
        if (strncmp(text, "http://", 7) != 0 && strncmp(text, "https://", 8) != 0)
                return false;
        for (; *text; text++)
                if ((unsigned char)*text <= ' ' || (unsigned char)*text == 0x7f)
                        return false;
        return true;
}

/* A name that the kernel allows and that libcurl and libiperf take as a plain name. */
static bool is_interface(const char *text)
{
        return *text && !strpbrk(text, "/!:%@ ") && strcmp(text, ".") && strcmp(text, "..");
}

struct text {
        const char *name;
        bool (*is)(const char *text);
        size_t offset, size;
        const char *wanted;
};

#define TEXT(field, is, wanted) \
        { #field, is, offsetof(struct request, field), sizeof(((struct request *)0)->field), wanted }

static const struct text texts[] = {
        TEXT(url, is_url, "text that begins with http:// or https://"),
        TEXT(peer, is_host, "a host name or an address"),
        TEXT(interface, is_interface, "the name of a network interface"),
};

static const struct text *find_text(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                if (strcmp(name, texts[i].name) == 0)
                        return &texts[i];
        return NULL;
}

static int parse_text(const cJSON *json, const struct text *text, struct request *request, char *error,
                      size_t size)
{
        if (!cJSON_IsString(json) || strlen(json->valuestring) >= text->size || !text->is(json->valuestring))
                return complain(error, size, "%s must be %s", text->name, text->wanted);
        strcpy((char *)request + text->offset, json->valuestring);
        return 0;
}

static int parse_members(const cJSON *json, struct request *request, char *error, size_t size)
{
        const cJSON *member;
        int err = 0;

        cJSON_ArrayForEach(member, json)
        {
                const struct text *text = find_text(member->string);

                err = text ? parse_text(member, text, request, error, size)
                           : parse_number(member, request, error, size);
                if (err < 0)
                        return err;
        }
        if (!request->url[0] == !request->peer[0])
                return complain(error, size, "%s needs either a url or a peer", request_names[request->kind]);
        if (request->kind == REQUEST_TRANSMIT && request->url[0])
                return complain(error, size,
                                "transmit needs a peer that runs iperf3 -s; it does not send to a url");
        if (request->kind == REQUEST_WAKE && request->packets > WAKE_PACKETS_PER_S * request->silence_s)
                return complain(error, size,
                                "wake sends at most %d packets a second: for %u of them silence_s must be %g or more",
                                WAKE_PACKETS_PER_S, request->packets, (double)request->packets / WAKE_PACKETS_PER_S);
        if (request->kind != REQUEST_WAKE && !request->bytes_per_s)
                return complain(error, size, "%s needs bytes_per_s", request_names[request->kind]);
        return 0;
}

static int parse_object(const cJSON *json, struct request *ret, char *error, size_t size)
{
        struct request request = { .port = 5201, .silence_s = 2, .packets = 1, .packet_bytes = 64, .seconds = 60 };
        const cJSON *member = cJSON_IsObject(json) ? json->child : NULL;
        size_t kind;
        int err;

        for (kind = 0; member && kind < ARRAY_SIZE(request_names); kind++)
                if (strcmp(member->string, request_names[kind]) == 0)
                        break;
        if (!member || member->next || kind == ARRAY_SIZE(request_names))
                return complain(error, size,
                                "a line must be an object with one member: receive, transmit, wake or stop");
        request.kind = (enum request_kind)kind;
        if (kind == REQUEST_STOP ? !cJSON_IsTrue(member) : !cJSON_IsObject(member))
                return complain(error, size, "%s must be %s", member->string,
                                kind == REQUEST_STOP ? "true" : "an object");
        if (kind != REQUEST_STOP) {
                err = parse_members(member, &request, error, size);
                if (err < 0)
                        return err;
        }
        *ret = request;
        return 0;
}

int request_parse(const char *line, struct request *ret, char *error, size_t size)
{
        cJSON *json = cJSON_ParseWithOpts(line, NULL, true);
        int err;

        if (!json)
                return complain(error, size, "the line is not JSON");
        err = parse_object(json, ret, error, size);
        cJSON_Delete(json);
        return err;
}
