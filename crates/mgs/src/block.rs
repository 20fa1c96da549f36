//! AES and SM4 in CBC mode with PKCS #7 padding, in place.

use aes::{Aes128, Aes256};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit,
};
use sm4::Sm4;

/// Block length in bytes of all ciphers for bodies.
pub const BLOCK: usize = 16;

/// Ciphers for the encryption of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    Aes128,
    Aes256,
    Sm4,
}

/// A cipher key with its initialisation vector.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BlockKey {
    pub cipher: Cipher,
    /// Cipher key, in the first [`Cipher::key_length`] bytes; the other bytes are unused.
    pub key: [u8; 32],
    pub iv: [u8; BLOCK],
}

impl std::fmt::Debug for BlockKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockKey").field("cipher", &self.cipher).finish_non_exhaustive()
    }
}

impl Cipher {
    /// Returns the length of the cipher's key in bytes.
    pub fn key_length(self) -> usize {
        match self {
            Self::Aes128 | Self::Sm4 => 16,
            Self::Aes256 => 32,
        }
    }
}

impl BlockKey {
    /// Encrypts the bytes of `out` after `from` in place. Padding makes `out` up to one block longer.
    pub fn encrypt(&self, from: usize, out: &mut Vec<u8>) {
        let plain = out.len() - from;
        out.resize(from + (plain / BLOCK + 1) * BLOCK, 0);
        let text = &mut out[from..];
        let key = &self.key[..self.cipher.key_length()];
        match self.cipher {
            Cipher::Aes128 => encrypt::<Aes128>(key, &self.iv, text, plain),
            Cipher::Aes256 => encrypt::<Aes256>(key, &self.iv, text, plain),
            Cipher::Sm4 => encrypt::<Sm4>(key, &self.iv, text, plain),
        }
    }

    /// Decrypts in place; returns the length of the plain text. `None`: the length or the padding is wrong.
    pub fn decrypt(&self, text: &mut [u8]) -> Option<usize> {
        let key = &self.key[..self.cipher.key_length()];
        match self.cipher {
            Cipher::Aes128 => decrypt::<Aes128>(key, &self.iv, text),
            Cipher::Aes256 => decrypt::<Aes256>(key, &self.iv, text),
            Cipher::Sm4 => decrypt::<Sm4>(key, &self.iv, text),
        }
    }
}

/// Encrypts one string. The caller ensures valid lengths of key and vector, and room for the padding.
fn encrypt<C: BlockCipherEncrypt + KeyInit>(key: &[u8], iv: &[u8], text: &mut [u8], plain: usize) {
    if let Ok(cipher) = cbc::Encryptor::<C>::new_from_slices(key, iv) {
        let _ = cipher.encrypt_padded::<Pkcs7>(text, plain);
    }
}

fn decrypt<C: BlockCipherDecrypt + KeyInit>(
    key: &[u8],
    iv: &[u8],
    text: &mut [u8],
) -> Option<usize> {
    let cipher = cbc::Decryptor::<C>::new_from_slices(key, iv).ok()?;
    cipher.decrypt_padded::<Pkcs7>(text).ok().map(<[u8]>::len)
}
