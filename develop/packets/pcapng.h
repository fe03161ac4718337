/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Packets of a pcapng file (draft-ietf-opsawg-pcapng), whose interfaces may have different links, snap lengths and
 * clocks. libpcap reads only files whose interfaces are alike.
 */

#include "capture.h"

struct pcapng;

/* Does the file begin as one of pcapng? The byte that was read is put back. */
bool pcapng_is(FILE *file);
/* @file stays the caller's. 0; -ENOMEM. */
int pcapng_new(FILE *file, const char *name, const struct log *log, struct pcapng **ret);
/* 1: a packet; 0: there are no more; a negative errno after a sentence. @n: packets so far, for sentences. */
int pcapng_next(struct pcapng *pcapng, size_t n, struct captured *ret);
void pcapng_free(struct pcapng *pcapng);
