/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A socket of the fuzzer in place of a service's or a compositor's, and a thread that answers at it. */

#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tree.h"
#include "fuzz.h"

struct fuzz_socket {
        char path[64];
        int fd;
        const uint8_t *answer; /* reply to each request, once a thread answers */
        size_t size;
};

static char fuzz_folder[64];

static inline void fuzz_remove_folder(void)
{
        tree_remove(fuzz_folder);
}

/* In a folder that is made now and removed at the end; @name may have folders of its own. */
static inline void fuzz_path(char path[64], const char *name)
{
        static bool made;

        if (!made) {
                fuzz_place(fuzz_folder, "socket");
                fuzz_assert(mkdtemp(fuzz_folder) && atexit(fuzz_remove_folder) == 0);
        }
        made = true;
        fuzz_assert(snprintf(path, 64, "%s/%s", fuzz_folder, name) < 64);
        fuzz_assert(util_make_parent(path, 0700) == 0);
}

static inline void fuzz_listen(struct fuzz_socket *self, const char *name)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        fuzz_path(self->path, name);
        strcpy(address.sun_path, self->path);
        self->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        fuzz_assert(bind(self->fd, (const struct sockaddr *)&address, sizeof(address)) == 0);
        fuzz_assert(listen(self->fd, 8) == 0);
}

static inline void *fuzz_answer(void *data)
{
        const struct fuzz_socket *self = data;

        for (;;) {
                int fd = accept(self->fd, NULL, NULL);
                char question[8192];

                if (fd < 0) /* libFuzzer's clock rings by a signal */
                        continue;
                if (recv(fd, question, sizeof(question), 0) > 0)
                        (void)!send(fd, self->answer, self->size, MSG_NOSIGNAL);
                close(fd);
        }
        return NULL;
}

/* From now on, in a thread: whoever asks waits for an answer. */
static inline void fuzz_start_answering(struct fuzz_socket *self)
{
        pthread_t thread;

        fuzz_assert(pthread_create(&thread, NULL, fuzz_answer, self) == 0);
        pthread_detach(thread);
}
