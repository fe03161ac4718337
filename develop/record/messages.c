/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "causes.h"
#include "messages.h"
#include "util/util.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->lost = true)
#include <uthash.h>

#define KEY_SIZE (4 * DBUS_HEADER_TEXT + 32)

struct owner { /* the process that has a unique name */
        char name[DBUS_HEADER_TEXT];
        pid_t pid;
        bool several; /* several processes have it, on several buses */
        bool lost;
        UT_hash_handle hh;
};

struct made { /* the last message that a thread made, and has not sent yet */
        pid_t tid;
        char names[4 * DBUS_HEADER_TEXT]; /* "": none */
        bool lost;
        UT_hash_handle hh;
};

struct sent {
        char *key;
        uint32_t cause;
        bool lost;
        UT_hash_handle hh;
};

struct messages {
        struct owner *owners;
        struct made *made;
        struct sent *sent;
};

int messages_new(struct messages **ret)
{
        *ret = calloc(1, sizeof(**ret));
        return *ret ? 0 : -ENOMEM;
}

void messages_forget(struct messages *messages)
{
        struct made *made, *next_made;
        struct sent *sent, *next_sent;

        HASH_ITER(hh, messages->made, made, next_made) {
                HASH_DEL(messages->made, made);
                free(made);
        }
        HASH_ITER(hh, messages->sent, sent, next_sent) {
                HASH_DEL(messages->sent, sent);
                free(sent->key);
                free(sent);
        }
}

void messages_free(struct messages *messages)
{
        struct owner *owner, *next;

        if (!messages)
                return;
        messages_forget(messages);
        HASH_ITER(hh, messages->owners, owner, next) {
                HASH_DEL(messages->owners, owner);
                free(owner);
        }
        free(messages);
}

static bool fill_names(char ret[4 * DBUS_HEADER_TEXT], const char *destination, const char *path, const char *interface,
                       const char *member)
{
        size_t size = 4 * DBUS_HEADER_TEXT;

        return snprintf(ret, size, "%s\n%s\n%s\n%s", destination, path, interface, member) < (int)size;
}

int messages_make(struct messages *messages, pid_t tid, const char *destination, const char *path,
                  const char *interface, const char *member)
{
        struct made *made;

        HASH_FIND_INT(messages->made, &tid, made);
        if (!made) {
                made = calloc(1, sizeof(*made));
                if (!made)
                        return -ENOMEM;
                made->tid = tid;
                HASH_ADD_INT(messages->made, tid, made);
                if (made->lost) {
                        free(made);
                        return -ENOMEM;
                }
        }
        if (!fill_names(made->names, destination, path, interface, member))
                *made->names = '\0';
        return 0;
}

static struct sent *find_sent(const struct messages *messages, pid_t pid, uint32_t serial, const char *names,
                              char key[KEY_SIZE])
{
        struct sent *sent;

        snprintf(key, KEY_SIZE, "%d %u %s", (int)pid, serial, names);
        HASH_FIND_STR(messages->sent, key, sent);
        return sent;
}

int messages_send(struct messages *messages, pid_t pid, pid_t tid, uint32_t serial, uint32_t cause)
{
        char key[KEY_SIZE];
        struct made *made;
        struct sent *sent;

        HASH_FIND_INT(messages->made, &tid, made);
        if (!made || !*made->names)
                return 0;
        sent = find_sent(messages, pid, serial, made->names, key);
        *made->names = '\0';
        if (sent) { /* another connection of this process sent one with the same key */
                sent->cause = sent->cause == cause ? cause : CAUSE_NONE;
                return 0;
        }
        sent = calloc(1, sizeof(*sent));
        if (!sent || !(sent->key = strdup(key))) {
                free(sent);
                return -ENOMEM;
        }
        sent->cause = cause;
        HASH_ADD_KEYPTR(hh, messages->sent, sent->key, strlen(sent->key), sent);
        if (sent->lost) {
                free(sent->key);
                free(sent);
                return -ENOMEM;
        }
        return 0;
}

/* Notes that a bus sends to @pid by this unique name. */
static int learn_owner(struct messages *messages, pid_t pid, const char *name)
{
        struct owner *owner;

        HASH_FIND_STR(messages->owners, name, owner);
        if (owner) {
                owner->several |= owner->pid != pid;
                return 0;
        }
        owner = calloc(1, sizeof(*owner));
        if (!owner)
                return -ENOMEM;
        snprintf(owner->name, sizeof(owner->name), "%s", name);
        owner->pid = pid;
        HASH_ADD_STR(messages->owners, name, owner);
        if (owner->lost) {
                free(owner);
                return -ENOMEM;
        }
        return 0;
}

int messages_receive(struct messages *messages, pid_t pid, const struct dbus_header *header, uint32_t *ret)
{
        char names[4 * DBUS_HEADER_TEXT], key[KEY_SIZE];
        /* The destination of a signal is set after it is made, so the key is without it. */
        const char *destination = header->type == DBUS_HEADER_SIGNAL ? "" : header->destination;
        const struct owner *owner;
        const struct sent *sent;
        int err = *header->destination == ':' ? learn_owner(messages, pid, header->destination) : 0;

        if (err)
                return err;
        *ret = CAUSE_NONE;
        if (header->type != DBUS_HEADER_CALL && header->type != DBUS_HEADER_SIGNAL)
                return 0;
        HASH_FIND_STR(messages->owners, header->sender, owner);
        if (!owner || owner->several ||
            !fill_names(names, destination, header->path, header->interface, header->member))
                return 0;
        sent = find_sent(messages, owner->pid, header->serial, names, key);
        if (sent)
                *ret = sent->cause;
        return 0;
}
