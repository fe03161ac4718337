/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pod.h"

#include <string.h>

#include "util/util.h"

enum { POD_NONE = 1, POD_ID = 3, POD_INT = 4, POD_STRING = 8, POD_STRUCT = 14 };

#define HEADER 8

static size_t padded(size_t size)
{
        return (size + 7) & ~(size_t)7;
}

/* Reads the head of the next value; false if it is incomplete. The padding of the last one may be missing. */
static bool look(const struct pod *pod, uint32_t *type, struct pod *body)
{
        uint32_t head[2];

        if (pod->left < HEADER)
                return false;
        memcpy(head, pod->at, HEADER);
        if (head[0] > pod->left - HEADER)
                return false;
        *type = head[1];
        *body = (struct pod){ pod->at + HEADER, head[0] };
        return true;
}

static void take(struct pod *pod, size_t body)
{
        size_t all = MIN(HEADER + padded(body), pod->left);

        pod->at += all;
        pod->left -= all;
}

bool pod_skip(struct pod *pod)
{
        uint32_t type;
        struct pod body;

        if (!look(pod, &type, &body))
                return false;
        take(pod, body.left);
        return true;
}

bool pod_int(struct pod *pod, int32_t *ret)
{
        uint32_t type;
        struct pod body;

        if (!look(pod, &type, &body) || (type != POD_INT && type != POD_ID) || body.left != sizeof(*ret))
                return false;
        memcpy(ret, body.at, sizeof(*ret));
        take(pod, body.left);
        return true;
}

bool pod_string(struct pod *pod, const char **ret)
{
        uint32_t type;
        struct pod body;

        if (!look(pod, &type, &body) ||
            (type != POD_NONE && (type != POD_STRING || body.left == 0 || body.at[body.left - 1] != '\0')))
                return false;
        *ret = type == POD_NONE ? NULL : (const char *)body.at;
        take(pod, body.left);
        return true;
}

bool pod_struct(struct pod *pod, struct pod *ret)
{
        uint32_t type;
        struct pod body;

        if (!look(pod, &type, &body) || type != POD_STRUCT)
                return false;
        *ret = body;
        take(pod, body.left);
        return true;
}

bool pod_pair(struct pod *dictionary, const char **key, const char **value)
{
        return pod_string(dictionary, key) && pod_string(dictionary, value) && *key && *value;
}

static void add(struct pod_message *message, uint32_t type, const void *body, size_t size)
{
        uint32_t head[2] = { (uint32_t)size, type };

        if (message->length + HEADER + padded(size) > sizeof(message->bytes))
                return;
        memcpy(message->bytes + message->length, head, HEADER);
        memcpy(message->bytes + message->length + HEADER, body, size);
        message->length += HEADER + padded(size);
}

void pod_begin(struct pod_message *message)
{
        *message = (struct pod_message){ .length = POD_MESSAGE_HEADER + HEADER };
}

void pod_add_int(struct pod_message *message, int32_t value)
{
        add(message, POD_INT, &value, sizeof(value));
}

void pod_add_string(struct pod_message *message, const char *text)
{
        add(message, POD_STRING, text, strlen(text) + 1);
}

static void close_struct(struct pod_message *message, size_t at)
{
        uint32_t head[2] = { (uint32_t)(message->length - at - HEADER), POD_STRUCT };

        memcpy(message->bytes + at, head, HEADER);
}

void pod_add_pair(struct pod_message *message, const char *key, const char *value)
{
        size_t at = message->length;

        add(message, POD_STRUCT, "", 0);
        pod_add_int(message, 1);
        pod_add_string(message, key);
        pod_add_string(message, value);
        close_struct(message, at);
}

/* Object, opcode and length, sequence, number of descriptors. https://docs.pipewire.org/page_native_protocol.html */
void pod_end(struct pod_message *message, uint32_t object, uint8_t opcode, uint32_t sequence)
{
        uint32_t head[4] = { object, (uint32_t)opcode << 24 | (uint32_t)(message->length - POD_MESSAGE_HEADER),
                             sequence, 0 };

        close_struct(message, POD_MESSAGE_HEADER);
        memcpy(message->bytes, head, sizeof(head));
}
