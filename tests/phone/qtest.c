/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qtest.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "socket.h"
#include "util/util.h"

int qtest_open(struct qtest *qtest, const char *path, pid_t *ret_pid)
{
        struct ucred peer;
        socklen_t size = sizeof(peer);
        int fd = socket_connect(path);

        if (fd < 0)
                return fd;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) {
                int err = -errno;

                close(fd);
                return err;
        }
        *qtest = (struct qtest){ .fd = fd };
        *ret_pid = peer.pid;
        return 0;
}

void qtest_close(struct qtest *qtest)
{
        closep(&qtest->fd);
        qtest->fd = -1;
}

/* A queue that is too full makes qtest_run() fail. */
static void queue(struct qtest *qtest, uint64_t *answer, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
static void queue(struct qtest *qtest, uint64_t *answer, const char *format, ...)
{
        size_t room = sizeof(qtest->out) - MIN(qtest->out_length, sizeof(qtest->out));
        va_list arguments;
        int n;

        va_start(arguments, format);
        n = vsnprintf(qtest->out + sizeof(qtest->out) - room, room, format, arguments);
        va_end(arguments);
        qtest->out_length += (size_t)n;
        if (qtest->n_answers < QTEST_QUEUE_MAX)
                qtest->answers[qtest->n_answers] = answer;
        qtest->n_answers++;
}

void qtest_in_byte(struct qtest *qtest, uint16_t port, uint64_t *ret)
{
        queue(qtest, ret, "inb 0x%x\n", port);
}

void qtest_out_byte(struct qtest *qtest, uint16_t port, uint8_t value)
{
        queue(qtest, NULL, "outb 0x%x 0x%x\n", port, value);
}

void qtest_read_long(struct qtest *qtest, uint64_t address, uint64_t *ret)
{
        queue(qtest, ret, "readl 0x%llx\n", (unsigned long long)address);
}

void qtest_write_long(struct qtest *qtest, uint64_t address, uint32_t value)
{
        queue(qtest, NULL, "writel 0x%llx 0x%x\n", (unsigned long long)address, value);
}

/* One line without its end: 1 it was an answer, 0 it was not, -EPROTO. */
static int parse_line(const char *line, size_t length, uint64_t *answer)
{
        char text[64], *end;

        if (length >= 3 && memcmp(line, "IRQ", 3) == 0)
                return 0;
        if (length >= sizeof(text))
                return -EPROTO;
        memcpy(text, line, length);
        text[length] = '\0';
        if (strncmp(text, "OK", 2) != 0 || (text[2] != '\0' && text[2] != ' '))
                return -EPROTO;
        if (!answer)
                return 1;
        errno = 0;
        *answer = strtoull(text + 2, &end, 16);
        return errno || end == text + 2 || *end ? -EPROTO : 1;
}

ssize_t qtest_parse(const char *text, size_t length, uint64_t *const *answers, size_t n_answers, size_t *at)
{
        size_t taken = 0;

        for (;;) {
                const char *line = text + taken, *end = memchr(line, '\n', length - taken);
                int is_answer;

                if (!end)
                        return (ssize_t)taken;
                is_answer = parse_line(line, (size_t)(end - line), *at < n_answers ? answers[*at] : NULL);
                if (is_answer < 0 || (is_answer && *at >= n_answers))
                        return -EPROTO;
                *at += (size_t)is_answer;
                taken = (size_t)(end - text) + 1;
        }
}

static int receive(struct qtest *qtest, size_t *at)
{
        ssize_t n = socket_receive(qtest->fd, qtest->in + qtest->in_length,
                                   sizeof(qtest->in) - qtest->in_length);

        if (n < 0)
                return (int)n;
        qtest->in_length += (size_t)n;
        n = qtest_parse(qtest->in, qtest->in_length, qtest->answers, qtest->n_answers, at);
        if (n < 0)
                return (int)n;
        qtest->in_length -= (size_t)n;
        memmove(qtest->in, qtest->in + n, qtest->in_length);
        return qtest->in_length == sizeof(qtest->in) ? -EPROTO : 0;
}

int qtest_run(struct qtest *qtest)
{
        size_t at = 0;
        int err = -ENOBUFS;

        if (qtest->out_length < sizeof(qtest->out) && qtest->n_answers <= QTEST_QUEUE_MAX)
                err = socket_send(qtest->fd, qtest->out, qtest->out_length);
        while (!err && at < qtest->n_answers)
                err = receive(qtest, &at);
        qtest->out_length = 0;
        qtest->n_answers = 0;
        return err;
}
