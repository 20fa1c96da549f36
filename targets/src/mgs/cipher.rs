//! The ciphers of bodies: AES and SM4 in CBC mode with PKCS #7 padding.

use aes::{Aes128, Aes256};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use cbc::{Decryptor, Encryptor};
use sm4::Sm4;

/// Length in bytes of a cipher block and of an initialization vector.
pub(super) const BLOCK: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cipher {
    Aes128,
    Aes256,
    Sm4,
}

/// Cipher, key and initialization vector of one request and its answer.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) cipher: Cipher,
    pub(super) key: Vec<u8>,
    pub(super) iv: [u8; BLOCK],
}

impl Cipher {
    /// Length of the cipher's key in bytes.
    pub(super) fn key(self) -> usize {
        match self {
            Self::Aes128 | Self::Sm4 => 16,
            Self::Aes256 => 32,
        }
    }
}

impl Session {
    /// Decrypts a body. Returns `None` if its length is not a multiple of the block length, or its padding is wrong, as
    /// after decryption with a wrong key.
    pub(super) fn decrypt(&self, ciphertext: &[u8]) -> Option<Vec<u8>> {
        match self.cipher {
            Cipher::Aes128 => decrypt::<Decryptor<Aes128>>(self, ciphertext),
            Cipher::Aes256 => decrypt::<Decryptor<Aes256>>(self, ciphertext),
            Cipher::Sm4 => decrypt::<Decryptor<Sm4>>(self, ciphertext),
        }
    }

    /// Encrypts a body. Returns `None` if the key has the wrong length for the cipher, which [`super::decoder`]
    /// prevents.
    pub(super) fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        match self.cipher {
            Cipher::Aes128 => encrypt::<Encryptor<Aes128>>(self, plain),
            Cipher::Aes256 => encrypt::<Encryptor<Aes256>>(self, plain),
            Cipher::Sm4 => encrypt::<Encryptor<Sm4>>(self, plain),
        }
    }
}

fn decrypt<M: BlockModeDecrypt + KeyIvInit>(
    session: &Session,
    ciphertext: &[u8],
) -> Option<Vec<u8>> {
    let mode = M::new_from_slices(&session.key, &session.iv).ok()?;
    mode.decrypt_padded_vec::<Pkcs7>(ciphertext).ok()
}

fn encrypt<M: BlockModeEncrypt + KeyIvInit>(session: &Session, plain: &[u8]) -> Option<Vec<u8>> {
    let mode = M::new_from_slices(&session.key, &session.iv).ok()?;
    Some(mode.encrypt_padded_vec::<Pkcs7>(plain))
}
