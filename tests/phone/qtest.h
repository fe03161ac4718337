/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * QEMU's qtest socket (docs/devel/testing/qtest.rst in QEMU): lines such as "readl 0xff000010" or "outb 0x2005
 * 0x1", each answered with "OK" and a value. Commands are collected and sent together, in one round trip.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define QTEST_QUEUE_MAX 64

struct qtest {
        int fd;
        char out[4096];
        size_t out_length;
        uint64_t *answers[QTEST_QUEUE_MAX]; /* where the value goes; NULL: none is expected */
        size_t n_answers;
        char in[4096];
        size_t in_length;
};

/* @ret_pid: the QEMU behind the socket. 0; -errno. */
int qtest_open(struct qtest *qtest, const char *path, pid_t *ret_pid);
void qtest_close(struct qtest *qtest);

void qtest_in_byte(struct qtest *qtest, uint16_t port, uint64_t *ret);
void qtest_out_byte(struct qtest *qtest, uint16_t port, uint8_t value);
void qtest_read_long(struct qtest *qtest, uint64_t address, uint64_t *ret);
void qtest_write_long(struct qtest *qtest, uint64_t address, uint32_t value);

/*
 * Sends what was collected and waits for the answers.
 * 0; -EPIPE: QEMU is gone; -EPROTO; -ENOBUFS: too much at once.
 */
int qtest_run(struct qtest *qtest);

/*
 * Takes whole lines out of @text: each answer goes to its place, beginning at *@at. Notices of interrupts are skipped.
 * Returns the bytes taken; -EPROTO for a command that failed, or an unexpected answer.
 */
ssize_t qtest_parse(const char *text, size_t length, uint64_t *const *answers, size_t n_answers, size_t *at);
