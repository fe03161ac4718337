/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gpu.h"

#include <stdlib.h>
#include <string.h>

#include "util/util.h"

#define ENGINES_MAX 16

struct engine {
        char name[32];
        uint64_t busy_ns;
        bool timed;        /* it has a time, which is enough */
        uint64_t cycles, total_cycles;
        uint64_t capacity; /* units of this kind; a client that uses all of them is busy once */
};

struct engines {
        struct engine list[ENGINES_MAX];
        size_t n;
};

static struct engine *engine_of(struct engines *engines, const char *name, size_t length)
{
        struct engine *engine;

        if (length == 0 || length >= sizeof(engine->name))
                return NULL;
        for (size_t i = 0; i < engines->n; i++) {
                engine = &engines->list[i];
                if (strlen(engine->name) == length && memcmp(engine->name, name, length) == 0)
                        return engine;
        }
        if (engines->n == ENGINES_MAX)
                return NULL;
        engine = &engines->list[engines->n++];
        *engine = (struct engine){ .capacity = 1 };
        memcpy(engine->name, name, length);
        return engine;
}

/* "drm-engine-render: 123 ns" or "drm-engine-capacity-video: 2" */
static bool read_engine(const char *key, const char *colon, const char *value, struct engines *engines)
{
        static const char time_key[] = "drm-engine-", capacity_key[] = "drm-engine-capacity-";
        bool capacity = strncmp(key, capacity_key, strlen(capacity_key)) == 0;
        const char *name = key + (capacity ? strlen(capacity_key) : strlen(time_key));
        struct engine *engine;
        char *end;
        uint64_t number;

        if (strncmp(key, time_key, strlen(time_key)) != 0 || name >= colon ||
            value[strspn(value, " \t")] == '-')
                return false;
        number = strtoull(value, &end, 10);
        if (end == value || (!capacity && strncmp(end + strspn(end, " \t"), "ns", 2) != 0))
                return false;
        engine = engine_of(engines, name, (size_t)(colon - name));
        if (!engine)
                return false;
        if (capacity)
                engine->capacity = MAX(number, UINT64_C(1));
        else
                engine->busy_ns = number;
        engine->timed = engine->timed || !capacity;
        return !capacity;
}

/*
 * "drm-cycles-rcs: 28257900" and "drm-total-cycles-rcs: 7655183225":
 * busy and all cycles of the same clock.
 */
static bool read_cycles(const char *key, const char *colon, const char *value, struct engines *engines)
{
        static const char busy_key[] = "drm-cycles-", total_key[] = "drm-total-cycles-";
        bool total = strncmp(key, total_key, strlen(total_key)) == 0;
        const char *name = key + (total ? strlen(total_key) : strlen(busy_key));
        struct engine *engine;
        char *end;
        uint64_t number;

        if ((!total && strncmp(key, busy_key, strlen(busy_key)) != 0) || name >= colon ||
            value[strspn(value, " \t")] == '-')
                return false;
        number = strtoull(value, &end, 10);
        engine = end == value ? NULL : engine_of(engines, name, (size_t)(colon - name));
        if (!engine)
                return false;
        if (total)
                engine->total_cycles = number;
        else
                engine->cycles = number;
        return total;
}

static void add_engine(const struct engine *engine, struct gpu_client *client)
{
        client->busy_ns += engine->busy_ns / engine->capacity;
        if (engine->timed || engine->total_cycles == 0)
                return;
        client->cycles += engine->cycles / engine->capacity;
        client->total_cycles = MAX(client->total_cycles, engine->total_cycles);
}

static void copy_word(const char *value, char *buf, size_t size)
{
        size_t length;

        value += strspn(value, " \t");
        length = MIN(strcspn(value, " \t\r\n"), size - 1);
        memcpy(buf, value, length);
        buf[length] = '\0';
}

static bool is_key(const char *line, const char *key)
{
        return strncmp(line, key, strlen(key)) == 0;
}

void gpu_parse_driver(const char *text, char *buf, size_t size)
{
        buf[0] = '\0';
        for (const char *line = text; *line && !buf[0]; line += strcspn(line, "\n"), line += *line == '\n')
                if (is_key(line, "drm-driver:"))
                        copy_word(line + strlen("drm-driver:"), buf, size);
}

bool gpu_same_client(const struct gpu_client *one, const struct gpu_client *other)
{
        return one->client == other->client && strcmp(one->device, other->device) == 0 &&
               strcmp(one->driver, other->driver) == 0;
}

bool gpu_parse_fdinfo(const char *text, struct gpu_client *ret)
{
        struct gpu_client client = { 0 };
        struct engines engines = { 0 };
        bool counted = false, known = false;

        gpu_parse_driver(text, client.driver, sizeof(client.driver));
        for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
                const char *colon = line + strcspn(line, ":\n");

                if (*colon != ':')
                        continue;
                if (is_key(line, "drm-client-id:")) {
                        char *end;

                        client.client = strtoull(colon + 1, &end, 10);
                        known = end != colon + 1;
                } else if (is_key(line, "drm-pdev:")) {
                        copy_word(colon + 1, client.device, sizeof(client.device));
                } else if (read_engine(line, colon, colon + 1, &engines) ||
                           read_cycles(line, colon, colon + 1, &engines)) {
                        counted = true;
                }
        }
        for (size_t i = 0; i < engines.n; i++)
                add_engine(&engines.list[i], &client);
        if (!counted || !known)
                return false;
        *ret = client;
        return true;
}
