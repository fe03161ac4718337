/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile-writer.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/profile-history.h"
#include "model/radio-usage.h"
#include "util/own-folder.h"
#include "util/util.h"
#include "worse.h"

/* Reply of the writing process. */
struct reply {
        int err;
        char path[PATH_MAX], kept[PATH_MAX]; /* "": NULL */
        char worse[128];
};

/* The measured base includes a sleeping GPS, and the power of an active one is measured above that. */
static int keep_held(const struct profile *before, struct profile *profile)
{
        ssize_t sleep = profile_find(before, TERM_GPS_SLEEP, 0, 0, "");
        int err = 0;

        for (size_t i = 0; !err && i < before->n_coefficients; i++) {
                struct coefficient kept = before->coefficients[i];

                if (!term_keys[kept.term].held || kept.term == TERM_GPS_SLEEP ||
                    profile_find(profile, kept.term, 0, 0, "") >= 0)
                        continue;
                if (kept.term == TERM_GPS && sleep >= 0)
                        kept.value = fmax(0, kept.value - before->coefficients[sleep].value);
                err = profile_add(profile, &kept);
        }
        return err;
}

/* Modes without radio traffic include the radio's rest power: WiFi's while associated, a modem's always. */
static int keep_radios(const struct profile *before, struct profile *profile)
{
        static const enum term with_rest[AIR_COUNT] = { [AIR_WIFI] = TERM_WIFI_ON, [AIR_CELLULAR] = TERM_BASE };
        int err = radio_add_others(&before->radios, &profile->radios);

        for (enum air air = 0; !err && air < AIR_COUNT; air++) {
                ssize_t measured = profile_find(profile, with_rest[air], 0, 0, "");
                double rest_mw;

                if (measured < 0 || !radio_usage_radio(profile, air) ||
                    profile_find(profile, radio_usage_term(air), 0, 0, "") >= 0)
                        continue;
                err = radio_usage_rest_mw(profile, air, &rest_mw);
                profile->coefficients[measured].value = fmax(0, profile->coefficients[measured].value - rest_mw);
        }
        return err;
}

/*
 * A profile that is clearly worse than the present one is written beside it. Radios that were not measured,
 * GPS and sound are kept from the present one.
 */
static int write_profile(const char *path, bool always, struct profile *profile, struct written *written)
{
        _cleanup_(profile_freep) struct profile *before = NULL;
        _cleanup_free_ char *text = NULL;
        int err = profile_load(path, NULL, &before) == 0 ? keep_radios(before, profile) : 0;

        if (!err && before)
                err = keep_held(before, profile);
        if (!err)
                err = profile_print(profile, &text);
        if (!err)
                err = own_folder_make(path, 0755);
        if (err)
                return err;
        if (before && !always && worse_than(profile, before, written->worse, sizeof(written->worse)))
                return profile_history_put(path, text, &written->path);
        err = profile_history_replace(path, text, &written->kept);
        if (!err)
                err = (written->path = strdup(path)) ? 0 : -ENOMEM;
        return err;
}

/* Reads until the other side closes; -EIO: fewer bytes came. */
static ssize_t receive(int fd, char *buf, size_t size)
{
        size_t length = 0;

        while (length < size) {
                ssize_t n = read(fd, buf + length, size - length);

                if (n == 0)
                        return (ssize_t)length;
                if (n < 0 && errno != EINTR)
                        return -errno;
                length += n > 0 ? (size_t)n : 0;
        }
        return (ssize_t)length;
}

static int send_all(int fd, const void *data, size_t length)
{
        for (size_t sent = 0; sent < length;) {
                ssize_t n = send(fd, (const char *)data + sent, length - sent, MSG_NOSIGNAL);

                if (n < 0 && errno != EINTR)
                        return -errno;
                sent += n > 0 ? (size_t)n : 0;
        }
        return shutdown(fd, SHUT_WR) < 0 ? -errno : 0;
}

static int write_text(const char *path, bool always, const char *text, size_t length, struct written *written)
{
        _cleanup_(profile_freep) struct profile *profile = NULL;
        int err = profile_parse(text, length, path, NULL, &profile);

        return err ? err : write_profile(path, always, profile, written);
}

/* The writing process. Without a text there is no profile. */
static _Noreturn void write_for_other(const char *path, bool always, int fd)
{
        char *text = malloc(PROFILE_BYTES_MAX);
        ssize_t length = text ? receive(fd, text, PROFILE_BYTES_MAX) : -ENOMEM;
        struct written written = { 0 };
        struct reply reply = { 0 };

        if (length == 0)
                _exit(0);
        reply.err = length < 0 ? (int)length : write_text(path, always, text, (size_t)length, &written);
        snprintf(reply.path, sizeof(reply.path), "%s", written.path ? written.path : "");
        snprintf(reply.kept, sizeof(reply.kept), "%s", written.kept ? written.kept : "");
        memcpy(reply.worse, written.worse, sizeof(reply.worse));
        send_all(fd, &reply, sizeof(reply));
        _exit(0);
}

int profile_writer_start(const char *path, bool always, struct profile_writer *ret)
{
        struct profile_writer writer = { .path = path, .always = always, .fd = -1 };
        int pair[2];

        *ret = writer;
        if (!path || geteuid() != 0)
                return 0;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return -errno;
        writer.fd = pair[0];
        writer.pid = fork();
        if (writer.pid == 0) {
                close(pair[0]);
                write_for_other(path, always, pair[1]);
        }
        close(pair[1]);
        *ret = writer;
        if (writer.pid > 0)
                return 0;
        ret->pid = 0;
        return -errno;
}

static int copy(const char *text, char **ret)
{
        *ret = *text ? strdup(text) : NULL;
        return *text && !*ret ? -ENOMEM : 0;
}

int profile_writer_put(struct profile_writer *writer, struct profile *profile, struct written *written)
{
        _cleanup_free_ char *text = NULL;
        struct reply reply;
        int err;

        if (writer->pid == 0)
                return write_profile(writer->path, writer->always, profile, written);
        err = profile_print(profile, &text);
        if (!err)
                err = send_all(writer->fd, text, strlen(text));
        if (!err && receive(writer->fd, (char *)&reply, sizeof(reply)) != sizeof(reply))
                err = -EIO;
        if (err || reply.err)
                return err ? err : reply.err;
        err = copy(reply.path, &written->path);
        if (!err)
                err = copy(reply.kept, &written->kept);
        memcpy(written->worse, reply.worse, sizeof(written->worse));
        return err;
}

void profile_writer_end(struct profile_writer *writer)
{
        closep(&writer->fd);
        if (writer->pid > 0)
                waitpid(writer->pid, NULL, 0);
        *writer = (struct profile_writer){ .fd = -1 };
}
