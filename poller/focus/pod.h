/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * PipeWire's values ("POD"): size, type, body, padded to 8 bytes, in the machine's byte order; a struct's
 * body is a sequence of values. https://docs.pipewire.org/page_spa_pod.html. Only the types in messages to
 * and from the daemon.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The unread part of a struct. */
struct pod {
        const uint8_t *at;
        size_t left;
};

/*
 * Each takes the next value. They return false and take nothing if it is missing, damaged, or of another
 * type.
 */
bool pod_skip(struct pod *pod);
bool pod_int(struct pod *pod, int32_t *ret); /* also for ids */
bool pod_string(struct pod *pod, const char **ret); /* NULL: none */
bool pod_struct(struct pod *pod, struct pod *ret);
/* A dictionary is a struct with a number and that many pairs of strings. */
bool pod_pair(struct pod *dictionary, const char **key, const char **value);

/* A message with one struct. Values that do not fit are left out. */
#define POD_MESSAGE_MAX 256
#define POD_MESSAGE_HEADER 16

struct pod_message {
        uint8_t bytes[POD_MESSAGE_MAX];
        size_t length;
};

void pod_begin(struct pod_message *message);
void pod_add_int(struct pod_message *message, int32_t value);
void pod_add_string(struct pod_message *message, const char *text);
/* A dictionary of one pair. */
void pod_add_pair(struct pod_message *message, const char *key, const char *value);
void pod_end(struct pod_message *message, uint32_t object, uint8_t opcode, uint32_t sequence);
