/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "blocks.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "socket.h"
#include "util/util.h"

static uint64_t number(const cJSON *stats, const char *name)
{
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(stats, name);

        return cJSON_IsNumber(item) && item->valuedouble >= 0 ? (uint64_t)item->valuedouble : 0;
}

static int sum(const cJSON *json, uint64_t *read_bytes, uint64_t *write_bytes)
{
        const cJSON *answer = cJSON_GetObjectItemCaseSensitive(json, "return"), *device;

        if (cJSON_GetObjectItemCaseSensitive(json, "error"))
                return -EPROTO;
        if (!cJSON_IsArray(answer))
                return 0;
        *read_bytes = *write_bytes = 0;
        cJSON_ArrayForEach(device, answer) {
                const cJSON *stats = cJSON_GetObjectItemCaseSensitive(device, "stats");

                *read_bytes += number(stats, "rd_bytes");
                *write_bytes += number(stats, "wr_bytes");
        }
        return 1;
}

int blocks_parse(const char *line, uint64_t *read_bytes, uint64_t *write_bytes)
{
        cJSON *json = cJSON_Parse(line);
        int ret = json ? sum(json, read_bytes, write_bytes) : -EPROTO;

        cJSON_Delete(json);
        return ret;
}

static int ask(const struct blocks *blocks, const char *command)
{
        char text[128];
        int n = snprintf(text, sizeof(text), "{\"execute\": \"%s\"}\n", command);

        return socket_send(blocks->fd, text, (size_t)n);
}

int blocks_open(struct blocks *blocks, const char *path)
{
        int err;

        *blocks = (struct blocks){ .fd = -1 };
        if (!path)
                return 0;
        blocks->fd = socket_connect(path);
        if (blocks->fd < 0)
                return blocks->fd;
        err = ask(blocks, "qmp_capabilities");
        if (!err)
                err = ask(blocks, "query-blockstats");
        blocks->asked = true;
        return err;
}

void blocks_close(struct blocks *blocks)
{
        closep(&blocks->fd);
        blocks->fd = -1;
}

static int take_lines(struct blocks *blocks)
{
        char *line = blocks->text, *end;

        while ((end = memchr(line, '\n', blocks->length - (size_t)(line - blocks->text)))) {
                int ret;

                *end = '\0';
                ret = blocks_parse(line, &blocks->read_bytes, &blocks->write_bytes);
                if (ret < 0)
                        return ret;
                blocks->asked = blocks->asked && ret == 0;
                line = end + 1;
        }
        blocks->length -= (size_t)(line - blocks->text);
        memmove(blocks->text, line, blocks->length);
        return blocks->length == sizeof(blocks->text) ? -EPROTO : 0;
}

int blocks_look(struct blocks *blocks)
{
        ssize_t n;
        int err;

        if (blocks->fd < 0)
                return 0;
        n = recv(blocks->fd, blocks->text + blocks->length, sizeof(blocks->text) - blocks->length,
                 MSG_DONTWAIT);
        if (n == 0)
                return -EPIPE;
        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? 0 : errno == ECONNRESET ? -EPIPE : -errno;
        blocks->length += (size_t)n;
        err = take_lines(blocks);
        if (err || blocks->asked)
                return err;
        blocks->asked = true;
        return ask(blocks, "query-blockstats");
}
