/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The socket of the test harness; several clients may connect. */

#include "physics.h"

#define CLIENTS_MAX 8

struct client {
        int fd;
        char text[4096];
        size_t length;
};

struct server {
        int fd;
        struct client clients[CLIENTS_MAX];
};

int server_open(struct server *server, const char *path); /* 0; -errno */
void server_close(struct server *server, const char *path);
/* Serves until that time, or until a client sends quit. */
void server_run(struct server *server, struct physics *physics, uint64_t until_ns);
